// Package wire reads and writes the JSON that crosses the border of a plugin: strictly, and without reflection, so
// that a guest spends microseconds on a question and links no more than it needs.
//
// Valid JSON means here what it means in encoding/json: the same grammar and depth, the same strings for escapes,
// lone surrogates and broken UTF-8. A Reader goes through one value from its beginning to its end and keeps the first
// error; the caller says which value comes next and never has to ask in between whether all is well:
//
//	r := wire.NewReader(text)
//	for name := range r.Members() {
//		switch string(name) {
//		case "path":
//			path = r.Text()
//		default:
//			r.Skip()
//		}
//	}
//	err := r.End()
package wire

package release

// Pieces cuts a text for readers who get it bit by bit: sentence by sentence, several at a time where there would be
// more than most pieces. Joined they are the text again.
func Pieces(text string, most int) []string {
	var out []string
	sentences := Sentences(text)
	size := len(text)/max(most, 1) + 1
	begin, at := 0, 0
	for _, sentence := range sentences {
		at += len(sentence)
		if len(sentences) <= most || at-begin >= size || at == len(text) {
			out = append(out, text[begin:at])
			begin = at
		}
	}
	return out
}

package files

// What one call may take in and give out. Every bound that cuts an answer is named in the answer.
const (
	maxReadBytes  = 256 << 10 // text of one read_file answer
	maxWriteBytes = 8 << 20   // content of one file written or edited
	maxListed     = 1000      // entries of one list_files answer
	maxGlobbed    = 1000      // paths of one glob_files answer
	maxMatches    = 1000      // matches of one grep_files answer
	usualMatches  = 200       // matches when the model does not say
	maxGrepBytes  = 64 << 10  // text of one grep_files answer
	maxLineShown  = 400       // bytes of one matching line
	maxGrepFile   = 8 << 20   // files larger than this are not searched
	maxVisited    = 50_000    // folder entries looked at by one call
	maxPathBytes  = 4096      // length of one path
	maxPattern    = 1000      // length of one glob or regular expression
	maxBraces     = 8         // alternatives in one glob: matching doubles with each
	sniffBytes    = 8 << 10   // how much of a file tells text from binary
)

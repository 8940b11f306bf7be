package contract

func searching() []fact {
	some := tree{"a.go": "package a\nfunc Run() {}\n", "b/c.md": "Run it\n", "d.bin": "Run\x00"}
	return []fact{
		{
			name: "matches are shown with path and line", before: some,
			tool: "grep_files", args: `{"pattern":"func \\w+"}`, part: "a.go:2:func Run() {}",
		},
		{
			name: "binary files are passed over and counted", before: some,
			tool: "grep_files", args: `{"pattern":"Run"}`, part: "1 file not searched",
		},
		{
			name: "a glob selects files by name", before: some,
			tool: "grep_files", args: `{"pattern":"Run","glob":"*.md"}`, want: "b/c.md:1:Run it",
		},
		{
			name: "a glob selects files by path", before: some,
			tool: "grep_files", args: `{"pattern":"Run","glob":"b/**"}`, want: "b/c.md:1:Run it",
		},
		{
			name: "one file can be searched", before: some,
			tool: "grep_files", args: `{"pattern":"^package","path":"a.go"}`, want: "a.go:1:package a",
		},
		{
			name: "case can be ignored", before: tree{"x": "HELLO\n"},
			tool: "grep_files", args: `{"pattern":"hello","ignore_case":true}`, want: "x:1:HELLO",
		},
		{
			name: "no match is no error", before: tree{"x": "HELLO\n"},
			tool: "grep_files", args: `{"pattern":"hello"}`, want: "[No line matches in 1 file.]",
		},
		{
			name: "the number of matches is bounded", before: tree{"x": "a\na\na\n"},
			tool: "grep_files", args: `{"pattern":"a","max_matches":2}`, part: "[Stopped after 2 matches;",
		},
		{name: "a broken expression is refused", tool: "grep_files", args: `{"pattern":"("}`, part: "no valid regular expression", refused: true},
		{name: "a place that is not there is refused", tool: "grep_files", args: `{"pattern":"a","path":"x"}`, part: "does not exist", refused: true},
	}
}

// refusing holds what no tool may do.
func refusing() []fact {
	return []fact{
		{name: "a path that climbs out is refused", tool: "read_file", args: `{"path":"../secret"}`, part: "outside the workspace", refused: true},
		{name: "a path that climbs out and comes back is refused", tool: "read_file", args: `{"path":"a/../../work/x"}`, part: "outside the workspace", refused: true},
		{name: "an absolute path that climbs out is refused", tool: "write_file", args: `{"path":"/../x","content":""}`, part: "outside the workspace", refused: true},
		{name: "an absolute path of the host means nothing", tool: "read_file", args: `{"path":"/etc/passwd"}`, part: "does not exist", refused: true},
		{name: "a NUL in a path is refused", tool: "read_file", args: `{"path":"a\u0000b"}`, part: "NUL", refused: true},
		{name: "a path is required", tool: "read_file", args: `{}`, part: `"path" is required`, refused: true},
		{name: "an unknown argument is named", tool: "read_file", args: `{"path":"x","mode":"r"}`, part: `no argument "mode"`, refused: true},
		{
			name: "an argument in another case is unknown", before: tree{"x": "kept"},
			tool: "write_file", args: `{"Path":"x","content":""}`, part: `no argument "Path"`, refused: true, after: tree{"x": "kept"},
		},
		{
			name: "a doubled argument is refused", before: tree{"x": "kept"},
			tool: "write_file", args: `{"path":"y","path":"x","content":""}`, part: "given twice", refused: true, after: tree{"x": "kept"},
		},
		{name: "a number for a path is refused", tool: "read_file", args: `{"path":7}`, part: `"path" must be a string`, refused: true},
		{name: "a broken line number is refused", tool: "read_file", args: `{"path":"x","start_line":1.5}`, part: "must be a whole number", refused: true},
		{name: "arguments that are no object are refused", tool: "list_files", args: `[]`, part: "must be a JSON object", refused: true},
	}
}

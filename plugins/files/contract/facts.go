package contract

func reading() []fact {
	poem := tree{"poem.txt": "one\ntwo\nthree\n"}
	return []fact{
		{
			name: "a whole file is read byte for byte", before: poem,
			tool: "read_file", args: `{"path":"poem.txt"}`, want: "one\ntwo\nthree\n",
		},
		{
			name: "a leading slash means the workspace", before: tree{"a/b.txt": "here"},
			tool: "read_file", args: `{"path":"/a//./b.txt"}`, want: "here",
		},
		{
			name: "a range of lines is read", before: poem,
			tool: "read_file", args: `{"path":"poem.txt","start_line":2,"end_line":2}`, want: "two\n[Lines 2 to 2; the file goes on.]",
		},
		{
			name: "a range up to the end has no note", before: poem,
			tool: "read_file", args: `{"path":"poem.txt","start_line":2,"end_line":9}`, want: "two\nthree\n",
		},
		{
			name: "a start behind the end says how long the file is", before: poem,
			tool: "read_file", args: `{"path":"poem.txt","start_line":9}`, part: "has only 3 lines", refused: true,
		},
		{
			name: "a start one line behind the end is refused", before: poem,
			tool: "read_file", args: `{"path":"poem.txt","start_line":4}`, part: "has only 3 lines", refused: true,
		},
		{
			name: "an empty file says so", before: tree{"empty": ""},
			tool: "read_file", args: `{"path":"empty"}`, want: "[The file is empty.]",
		},
		{
			name: "a file with NUL bytes is called binary", before: tree{"image.png": "\x89PNG\x00\x01"},
			tool: "read_file", args: `{"path":"image.png"}`, part: "binary file", refused: true,
		},
		{
			name: "a file that is not UTF-8 is called binary", before: tree{"latin.txt": "caf\xe9 noir"},
			tool: "read_file", args: `{"path":"latin.txt"}`, part: "binary file", refused: true,
		},
		{
			name: "a missing file says what to do next",
			tool: "read_file", args: `{"path":"none.txt"}`, want: `"none.txt" does not exist; use list_files or glob_files to see what does.`, refused: true,
		},
		{
			name: "reading a folder points to list_files", before: tree{"a/b": ""},
			tool: "read_file", args: `{"path":"a"}`, part: "use list_files", refused: true,
		},
		{
			name: "a range that ends before it starts is refused", before: poem,
			tool: "read_file", args: `{"path":"poem.txt","start_line":3,"end_line":2}`, part: "lies before", refused: true,
		},
	}
}

func writing() []fact {
	return []fact{
		{
			name: "a new file is created with its folders",
			tool: "write_file", args: `{"path":"a/b/c.txt","content":"hé"}`, want: "created a/b/c.txt (3 bytes)",
			after: tree{"a/b/c.txt": "hé"},
		},
		{
			name: "an old file is replaced and its old size named", before: tree{"c.txt": "before"},
			tool: "write_file", args: `{"path":"c.txt","content":"x"}`, want: "replaced c.txt (1 byte, before 6)",
			after: tree{"c.txt": "x"},
		},
		{
			name: "an empty file can be written",
			tool: "write_file", args: `{"path":"c.txt","content":""}`, want: "created c.txt (0 bytes)",
			after: tree{"c.txt": ""},
		},
		{
			name: "content is required", before: tree{"c.txt": "kept"},
			tool: "write_file", args: `{"path":"c.txt"}`, part: `"content" is required`, refused: true,
			after: tree{"c.txt": "kept"},
		},
		{
			name: "a folder is not overwritten", before: tree{"a/b": "kept"},
			tool: "write_file", args: `{"path":"a","content":"x"}`, part: "is a folder", refused: true,
			after: tree{"a/b": "kept"},
		},
		{
			name: "the workspace itself is not a file",
			tool: "write_file", args: `{"path":"/","content":"x"}`, part: "is the workspace folder", refused: true,
		},
		{
			name: "a file cannot be a parent folder", before: tree{"a": "kept"},
			tool: "write_file", args: `{"path":"a/b","content":"x"}`, part: `"a`, refused: true,
			after: tree{"a": "kept"},
		},
	}
}

func editing() []fact {
	twice := tree{"c.go": "a := 1\nb := 1\n"}
	return []fact{
		{
			name: "text that occurs once is replaced", before: twice,
			tool: "edit_file", args: `{"path":"c.go","old_text":"a := 1","new_text":"a := 2"}`,
			want: "edited c.go (1 replacement, now 14 bytes)", after: tree{"c.go": "a := 2\nb := 1\n"},
		},
		{
			name: "text that occurs twice is left alone and its lines are named", before: twice,
			tool: "edit_file", args: `{"path":"c.go","old_text":":= 1","new_text":":= 2"}`,
			part: "occurs 2 times in \"c.go\", in lines 1, 2", refused: true, after: twice,
		},
		{
			name: "replace_all replaces every occurrence", before: twice,
			tool: "edit_file", args: `{"path":"c.go","old_text":":= 1","new_text":":= 2","replace_all":true}`,
			want: "edited c.go (2 replacements, now 14 bytes)", after: tree{"c.go": "a := 2\nb := 2\n"},
		},
		{
			name: "overlapping occurrences count as more than one", before: tree{"x": "aaa"},
			tool: "edit_file", args: `{"path":"x","old_text":"aa","new_text":"b"}`,
			part: "occurs 2 times", refused: true, after: tree{"x": "aaa"},
		},
		{
			name: "text that is not there is refused", before: twice,
			tool: "edit_file", args: `{"path":"c.go","old_text":"z := 1","new_text":""}`,
			part: "was not found", refused: true, after: twice,
		},
		{
			name: "other line ends are hinted at", before: tree{"dos.txt": "a\r\nb\r\n"},
			tool: "edit_file", args: `{"path":"dos.txt","old_text":"a\nb","new_text":"c"}`,
			part: "CR LF", refused: true, after: tree{"dos.txt": "a\r\nb\r\n"},
		},
		{
			name: "leaving new_text out deletes", before: tree{"x": "keep drop"},
			tool: "edit_file", args: `{"path":"x","old_text":" drop"}`,
			want: "edited x (1 replacement, now 4 bytes)", after: tree{"x": "keep"},
		},
		{
			name: "a file that is not there is not created",
			tool: "edit_file", args: `{"path":"x","old_text":"a","new_text":"b"}`, part: "use write_file", refused: true,
		},
		{
			name: "a binary file is not edited", before: tree{"x": "a\x00b"},
			tool: "edit_file", args: `{"path":"x","old_text":"a","new_text":"b"}`,
			part: "binary file", refused: true, after: tree{"x": "a\x00b"},
		},
		{
			name: "an edit that changes nothing is refused", before: twice,
			tool: "edit_file", args: `{"path":"c.go","old_text":"a","new_text":"a"}`, part: "nothing to change", refused: true,
		},
	}
}

func looking() []fact {
	some := tree{"b.txt": "12345", "a/x.go": "x", "a/y/z.go": ""}
	return []fact{
		{
			name: "a folder is listed with types and sizes", before: some,
			tool: "list_files", args: `{}`, want: "folder a/\nfile   b.txt (5 bytes)",
		},
		{
			name: "a folder is listed with everything below it", before: some,
			tool: "list_files", args: `{"path":"a","recursive":true}`, want: "file   a/x.go (1 byte)\nfolder a/y/\nfile   a/y/z.go (0 bytes)",
		},
		{name: "an empty workspace says so", tool: "list_files", args: `{"path":"."}`, want: "[The workspace is empty.]"},
		{
			name: "listing a file points to read_file", before: some,
			tool: "list_files", args: `{"path":"b.txt"}`, part: "use read_file", refused: true,
		},
		{
			name: "two stars cross folders", before: some,
			tool: "glob_files", args: `{"pattern":"**/*.go"}`, want: "a/x.go\na/y/z.go",
		},
		{
			name: "one star stays in its folder", before: some,
			tool: "glob_files", args: `{"pattern":"a/*.go"}`, want: "a/x.go",
		},
		{
			name: "a pattern is relative to its path", before: some,
			tool: "glob_files", args: `{"pattern":"y/*","path":"a"}`, want: "a/y/z.go",
		},
		{
			name: "alternatives match", before: some,
			tool: "glob_files", args: `{"pattern":"{b,c}.txt"}`, want: "b.txt",
		},
		{
			name: "a pattern without a match is no error", before: some,
			tool: "glob_files", args: `{"pattern":"no/where/*.md"}`, want: `[No file matches "no/where/*.md".]`,
		},
		{name: "a broken pattern is refused", tool: "glob_files", args: `{"pattern":"[a"}`, part: "no valid pattern", refused: true},
		{name: "a pattern that climbs out is refused", tool: "glob_files", args: `{"pattern":"a/../../*"}`, part: "outside the workspace", refused: true},
	}
}

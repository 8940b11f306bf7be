package semanticguard

import "strings"

// holdsPath reports whether a text names a file with its folder, or a line of source code. The paths of URLs and of
// endpoints, such as /api/orders, are no files.
func holdsPath(plain string) bool {
	if strings.Contains(plain, "file://") || strings.Contains(plain, "traceback (most recent call") || strings.Contains(plain, "goroutine 1 [") {
		return true
	}
	for _, word := range strings.FieldsFunc(plain, parts) {
		word = strings.TrimRight(word, ".:!?*_")
		if !strings.ContainsAny(word, `/\.`) {
			continue
		}
		if isFile(word) || sourceLine(word) {
			return true
		}
	}
	return false
}

// parts reports whether a sign stands between words.
func parts(r rune) bool { return strings.ContainsRune(" \u00a0\"'()[]{}<>,;=|", r) }

func isFile(word string) bool {
	if scheme := strings.Index(word, "://"); scheme >= 0 {
		return false
	}
	if strings.HasPrefix(word, `\\`) || len(word) > 3 && word[1] == ':' && word[2] == '\\' || strings.Contains(word, `:\`) {
		return true
	}
	if _, behind, ok := strings.Cut(word, ":/"); ok { // path:/etc/x
		word = "/" + behind
	}
	for _, prefix := range []string{"~/", "../", "./"} {
		if strings.HasPrefix(word, prefix) && len(word) > len(prefix) {
			return true
		}
	}
	segments := strings.Split(strings.Trim(word, "/"), "/")
	if len(segments) < 2 {
		return false
	}
	return strings.HasPrefix(word, "/") && systemFolder(segments[0]) || fileName(segments[len(segments)-1])
}

// systemFolder reports whether a folder lies at the root of file systems and of no web site.
func systemFolder(name string) bool {
	switch name {
	case "etc", "var", "usr", "home", "root", "opt", "tmp", "proc", "sys", "dev", "srv", "mnt", "run", "boot", "lib", "lib64",
		"bin", "sbin", "nix", "snap", "workspace":
		return true
	}
	return false
}

// fileName reports whether a name ends as those of files do.
func fileName(name string) bool {
	name, _, _ = strings.Cut(name, ":") // a line
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return false
	}
	switch name[dot+1:] {
	case "log", "conf", "cnf", "cfg", "ini", "yaml", "yml", "toml", "json", "xml", "env", "txt", "md", "csv", "gz", "zip", "tar",
		"sql", "db", "sqlite", "sock", "pid", "pem", "key", "crt", "sh", "so", "jar", "wasm", "out", "err", "ibd", "frm":
		return true
	}
	return sourceFile(name[dot+1:])
}

func sourceFile(ending string) bool {
	switch ending {
	case "go", "py", "java", "kt", "js", "mjs", "ts", "tsx", "rb", "c", "cc", "cpp", "h", "rs", "php", "cs", "scala":
		return true
	}
	return false
}

// sourceLine reports whether a word is a line of a source file, such as main.go:12.
func sourceLine(word string) bool {
	file, line, ok := strings.Cut(word, ":")
	dot := strings.LastIndexByte(file, '.')
	return ok && dot > 0 && line != "" && line[0] >= '0' && line[0] <= '9' && sourceFile(file[dot+1:])
}

package host

// laterKeys are documented keys whose feature does not exist in this version.
var laterKeys = map[string]bool{
	"agent_tools":             true,
	"telemetry.otlp_endpoint": true,
}

// unknownKey says what to do about a key that does not exist.
func unknownKey(path, key string, known []string) (message, hint string) {
	if laterKeys[path] {
		return notAvailable, "remove the key"
	}
	if nearest := nearestName(key, known); nearest != "" {
		return "unknown key", "did you mean " + nearest + "?"
	}
	return "unknown key", "known here: " + listOf(known)
}

// nearestName returns the known name that name was most likely meant to be, or nothing when none is close.
func nearestName(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, candidate := range known {
		if d := editDistance(name, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements between two short names.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func listOf(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		if name == "" {
			name = `""`
		}
		text += name
	}
	return text
}

package run

import (
	"strings"
	"testing"
)

const aUUID = "0123abcd-4567-89EF-0123-456789abcdef"

func TestAnObjectsIDIsAKindAndAUUIDOrAUUID(t *testing.T) {
	for text, good := range map[string]bool{
		aUUID: true, "a:" + aUUID: true, "graph_node-2:" + aUUID: true, strings.Repeat("k", 32) + ":" + aUUID: true,
		strings.Repeat("k", 33) + ":" + aUUID: false, ":" + aUUID: false, "Kind:" + aUUID: false, "2:" + aUUID: false,
		"a:b:" + aUUID: false, aUUID + "\n": false, " " + aUUID: false, "": false, "node:1": false,
	} {
		if IsObjectID(text) != good {
			t.Errorf("%q: %v", text, !good)
		}
		if IsUUID(text) != (good && !strings.Contains(text, ":")) {
			t.Errorf("%q as a UUID: %v", text, IsUUID(text))
		}
	}
}

func TestATextSaysSomethingIn512Characters(t *testing.T) {
	for text, good := range map[string]bool{
		"é": true, strings.Repeat("é", 512): true, strings.Repeat("é", 513): false, "": false, " \t\u00a0\n": false,
		"a\x00b": false, "\xff": false,
	} {
		if IsText(text) != good {
			t.Errorf("%.20q: %v", text, !good)
		}
	}
}

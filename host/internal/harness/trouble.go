package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wantsDiagnosis reports whether a text in small letters asks to diagnose, to find the cause of, or to explain an
// outage, an error, an alert or slowness.
func wantsDiagnosis(text string) bool {
	if begins(withoutPoliteness(text), diagnoses()) {
		return true
	}
	return holds(text, append(diagnoses(), causes()...)) && holds(text, troubles())
}

// withoutPoliteness returns what is asked for behind please and its like.
func withoutPoliteness(text string) string {
	for polite := true; polite; {
		polite = false
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		for _, words := range []string{
			"please", "can you", "could you", "would you", "i need you to", "i want you to", "help me", "help us", "let's",
			"bitte", "kannst du", "können sie", "könntest du", "könnten sie", "s'il vous plaît", "peux-tu", "pouvez-vous",
			"请", "帮我", "麻烦",
		} {
			if rest, found := strings.CutPrefix(text, words); found && ends(words, rest) {
				text, polite = rest, true
			}
		}
	}
	return text
}

// begins reports whether a text begins with a word, or with a longer form of one of those that end with an asterisk.
func begins(text string, words []string) bool {
	for _, word := range words {
		stem, open := strings.CutSuffix(word, "*")
		if rest, found := strings.CutPrefix(text, stem); found && (open || ends(stem, rest)) {
			return true
		}
	}
	return false
}

// holds reports whether one of the words stands in a text, as a word.
func holds(text string, words []string) bool {
	for at := range text {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if at > 0 && inWord(before) && !unspaced(before) {
			continue
		}
		if begins(text[at:], words) {
			return true
		}
	}
	return false
}

// diagnoses are words that ask for a diagnosis wherever a text begins with them.
func diagnoses() []string {
	return []string{
		"diagnos*", "troubleshoot*", "root cause*", "root-cause*", "find the cause", "find the root cause", "find out why",
		"diagnostizier*", "finde die ursache", "diagnostique*", "trouve la cause", "trouvez la cause",
		"诊断", "排查", "定位",
	}
}

// causes are words that ask for an explanation. They ask for a diagnosis where a trouble stands beside them.
func causes() []string {
	return []string{
		"why", "explain*", "cause", "causes", "caused", "causing", "reason", "reasons", "investigate*", "analyse*", "analyze*",
		"what is wrong", "what's wrong", "what went wrong", "what happened", "what is happening",
		"warum", "wieso", "weshalb", "erklär*", "ursache*", "grund", "untersuche*", "analysier*", "was ist los",
		"pourquoi", "expliqu*", "raison", "enquêt*", "que se passe-t-il",
		"为什么", "为何", "原因", "分析", "解释",
	}
}

// troubles are what goes wrong in a service.
func troubles() []string {
	return []string{
		"outage*", "error*", "alert*", "alarm*", "slow*", "latenc*", "lag", "lagging", "down", "downtime", "fail*", "incident*",
		"timeout*", "timed out", "timing out", "time out", "crash*", "unavailab*", "unreachable", "degrad*", "exception*",
		"broken", "spike*", "stuck", "hang*", "5xx", "500", "500s", "502", "502s", "503", "503s", "504", "504s", "oom",
		"ausfall*", "ausfälle*", "ausgefallen", "fehler*", "langsam*", "störung*", "absturz*", "abgestürzt", "latenz*", "kaputt",
		"nicht erreichbar", "zeitüberschreitung*",
		"panne*", "erreur*", "alerte*", "lent", "lente", "lents", "lentes", "lenteur*", "en panne", "plante*", "indisponib*",
		"故障", "错误", "报错", "告警", "报警", "慢", "超时", "异常", "宕机", "崩溃", "延迟", "不可用",
	}
}

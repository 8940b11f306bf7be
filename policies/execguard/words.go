package execguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hole stands in a word's text for what is only known when the command runs.
const hole = "\x00"

// maxBraces bounds how many words one word with braces is taken for.
const maxBraces = 64

// word is one argument as far as it is known before the command runs.
type word struct {
	text  string // literal text, quotes and escapes taken away; $HOME at its start is written ~
	glob  bool   // has unquoted glob characters
	split bool   // has an unquoted expansion, which may become several words or none
}

// known reports whether the text is all there is.
func (w word) known() bool { return !w.glob && !w.split && !strings.Contains(w.text, hole) }

// option reports whether w looks like an option.
func (w word) option() bool { return len(w.text) > 1 && w.text[0] == '-' }

// words reads the arguments of a simple command, braces multiplied out.
func words(given []*syntax.Word) []word {
	var all []word
	for _, w := range given {
		split := &syntax.Word{Parts: slices.Clone(w.Parts)}
		syntax.SplitBraces(split)
		for _, parts := range alternatives(split.Parts) {
			all = append(all, readWord(parts))
		}
	}
	return all
}

// readOne reads a word that the shell does not multiply, such as the target of a redirection.
func readOne(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	return readWord(w.Parts)
}

// alternatives multiplies out brace expressions. Sequences become a hole, and so does a word that stands for more
// than maxBraces.
func alternatives(parts []syntax.WordPart) [][]syntax.WordPart {
	all := [][]syntax.WordPart{nil}
	for _, part := range parts {
		choices := [][]syntax.WordPart{{part}}
		if braces, ok := part.(*syntax.BraceExp); ok {
			choices = choicesOf(braces)
		}
		if len(all)*len(choices) > maxBraces {
			return [][]syntax.WordPart{{&syntax.ParamExp{}}}
		}
		var longer [][]syntax.WordPart
		for _, head := range all {
			for _, tail := range choices {
				longer = append(longer, append(head[:len(head):len(head)], tail...))
			}
		}
		all = longer
	}
	return all
}

func choicesOf(braces *syntax.BraceExp) [][]syntax.WordPart {
	if braces.Sequence {
		return [][]syntax.WordPart{{&syntax.ParamExp{}}}
	}
	var choices [][]syntax.WordPart
	for _, element := range braces.Elems {
		choices = append(choices, alternatives(element.Parts)...)
	}
	return choices
}

func readWord(parts []syntax.WordPart) word {
	var w word
	for _, part := range parts {
		w.add(part, false)
	}
	return w
}

func (w *word) add(part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		w.literal(p.Value, quoted)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, "\\") {
			w.text += hole
			return
		}
		w.text += p.Value
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			w.add(inner, true)
		}
	case *syntax.ParamExp:
		w.parameter(p, quoted)
	case *syntax.ExtGlob:
		w.glob = true
		w.text += hole
	default:
		w.split = w.split || !quoted
		w.text += hole
	}
}

// literal adds plain text with its backslashes taken away.
func (w *word) literal(text string, quoted bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] != '\n' {
				w.text += string(text[i])
			}
			continue
		case !quoted && strings.IndexByte("*?[", c) >= 0:
			w.glob = w.glob || len(text) > 1 || c != '['
		}
		w.text += string(c)
	}
}

func (w *word) parameter(p *syntax.ParamExp, quoted bool) {
	if p.Param != nil && p.Param.Value == "HOME" && !p.Length && w.text == "" {
		w.text = "~" // ${HOME:?}, ${HOME%/*} and the like are no better
		return
	}
	w.split = w.split || !quoted
	w.text += hole
}

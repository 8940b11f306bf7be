package sed

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/regex"
)

// substitution reads s/pattern/replacement/flags.
func (p *parser) substitution(s *step) error {
	delimiter, err := p.delimiter()
	if err != nil {
		return err
	}
	pattern, err := p.delimited(delimiter, true)
	if err != nil {
		return errors.New("unterminated `s' command")
	}
	p.at--
	replacement, err := p.delimited(delimiter, false)
	if err != nil {
		return errors.New("unterminated `s' command")
	}
	s.change = &change{replacement: pieces(replacement)}
	syntax, err := p.flags(s.change)
	if err != nil {
		return err
	}
	if pattern == "" {
		return nil
	}
	if s.change.pattern, err = regex.Compile(pattern, syntax); err != nil {
		return err
	}
	for _, part := range s.change.replacement {
		if part.group > s.change.pattern.NumSubexp() {
			return fmt.Errorf("invalid reference \\%d on `s' command's RHS", part.group)
		}
	}
	return nil
}

func (p *parser) flags(c *change) (regex.Syntax, error) {
	syntax := regex.Syntax{Extended: p.extended}
	for {
		switch ch := p.peek(); {
		case ch == 'g':
			c.global = true
		case ch == 'p':
			c.print = true
		case ch == 'i' || ch == 'I':
			syntax.Fold = true
		case ch == 'm' || ch == 'M':
			syntax.Multiline = true
		case ch >= '1' && ch <= '9':
			c.which = p.number()
			continue
		case ch == 'w':
			p.at++
			p.skip(" \t")
			c.file = p.line()
			return syntax, nil
		case ch == 'e':
			return syntax, errors.New("the flag e is not available: it would run another program")
		default:
			return syntax, nil
		}
		p.at++
	}
}

// pieces takes a replacement apart.
func pieces(text string) []piece {
	var all []piece
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			all = append(all, piece{text: plain.String(), group: -1})
			plain.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case ch == '&':
			flush()
			all = append(all, piece{group: 0})
		case ch != '\\' || i+1 == len(text):
			plain.WriteByte(ch)
		default:
			i++
			next := text[i]
			switch {
			case next >= '0' && next <= '9':
				flush()
				all = append(all, piece{group: int(next - '0')})
			case strings.IndexByte("ULulE", next) >= 0:
				flush()
				all = append(all, piece{group: -1, shift: next})
			case strings.IndexByte("ntrfv", next) >= 0:
				plain.WriteByte("\n\t\r\f\v"[strings.IndexByte("ntrfv", next)])
			default:
				plain.WriteByte(next)
			}
		}
	}
	flush()
	return all
}

// apply replaces in text and says whether it did.
func (c *change) apply(pattern *regexp.Regexp, text string) (string, bool) {
	var b strings.Builder
	at, count, changed := 0, 0, false
	for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
		count++
		if count < c.which {
			continue
		}
		b.WriteString(text[at:match[0]])
		b.WriteString(c.expand(text, match))
		at, changed = match[1], true
		if !c.global {
			break
		}
	}
	if !changed {
		return text, false
	}
	b.WriteString(text[at:])
	return b.String(), true
}

// expand writes the replacement of one match.
func (c *change) expand(text string, match []int) string {
	var b strings.Builder
	lasting, once := byte('E'), byte(0)
	for _, part := range c.replacement {
		switch part.shift {
		case 'U', 'L', 'E':
			lasting = part.shift
			continue
		case 'u', 'l':
			once = part.shift
			continue
		}
		piece := part.text
		if part.group >= 0 {
			piece = ""
			if at := 2 * part.group; at < len(match) && match[at] >= 0 {
				piece = text[match[at]:match[at+1]]
			}
		}
		if piece != "" {
			piece, once = shifted(piece, lasting, once), 0
		}
		b.WriteString(piece)
	}
	return b.String()
}

func shifted(text string, lasting, once byte) string {
	switch lasting {
	case 'U':
		text = strings.ToUpper(text)
	case 'L':
		text = strings.ToLower(text)
	}
	first, size := utf8.DecodeRuneInString(text)
	switch once {
	case 'u':
		return string(unicode.ToUpper(first)) + text[size:]
	case 'l':
		return string(unicode.ToLower(first)) + text[size:]
	}
	return text
}

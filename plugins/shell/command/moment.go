package command

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// FormatTime writes a time as date's format says.
func FormatTime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := byte(0)
		for strings.IndexByte("-_0^:", format[i]) >= 0 && i+1 < len(format) {
			pad = format[i]
			i++
		}
		digits := i
		for format[i] >= '0' && format[i] <= '9' && i+1 < len(format) {
			i++
		}
		text := directive(format[i], format[digits:i], t)
		switch pad {
		case '-':
			if trimmed := strings.TrimLeft(text, "0 "); trimmed != "" {
				text = trimmed
			} else {
				text = "0"
			}
		case '_':
			for n := 0; n < len(text)-1 && text[n] == '0'; n++ {
				text = text[:n] + " " + text[n+1:]
			}
		case '^':
			text = strings.ToUpper(text)
		case ':':
			text = t.Format("-07:00")
		}
		b.WriteString(text)
	}
	return b.String()
}

func directive(letter byte, width string, t time.Time) string {
	layouts := map[byte]string{
		'Y': "2006", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'y': "06", 'b': "Jan",
		'h': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'p': "PM", 'P': "pm", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02",
		'T': "15:04:05", 'X': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'x': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006",
		'r': "03:04:05 PM", 'j': "002",
	}
	if layout, known := layouts[letter]; known {
		return t.Format(layout)
	}
	year, week := t.ISOWeek()
	switch letter {
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'N':
		text := fmt.Sprintf("%09d", t.Nanosecond())
		if n, err := strconv.Atoi(width); err == nil && n > 0 && n < 9 {
			return text[:n]
		}
		return text
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'G':
		return strconv.Itoa(year)
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	case 'q':
		return strconv.Itoa((int(t.Month())-1)/3 + 1)
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	}
	return "%" + string(letter)
}

var offset = regexp.MustCompile(`(?i)([+-]?)\s*(\d+|next|last|an?)\s*(second|sec|minute|min|hour|day|week|fortnight|month|year)s?(\s+ago)?`)

// ReadTime reads a date as people write it: @seconds, ISO dates and times, now, today, yesterday, tomorrow, and offsets
// such as "2 days ago".
func ReadTime(text string, now time.Time) (time.Time, error) {
	rest := strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(strings.TrimPrefix(rest, "@"), 64); err == nil && strings.HasPrefix(rest, "@") {
		return time.Unix(int64(seconds), 0).In(now.Location()), nil
	}
	moved := func(t time.Time) time.Time { return t }
	for _, found := range offset.FindAllStringSubmatch(rest, -1) {
		inner, step := moved, found
		moved = func(t time.Time) time.Time { return shift(inner(t), step) }
		rest = strings.Replace(rest, found[0], " ", 1)
	}
	rest = strings.ToLower(strings.Join(strings.Fields(rest), " "))
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch rest {
	case "", "now":
		return moved(now), nil
	case "today":
		return moved(now), nil
	case "midnight":
		return moved(day), nil
	case "yesterday":
		return moved(now.AddDate(0, 0, -1)), nil
	case "tomorrow":
		return moved(now.AddDate(0, 0, 1)), nil
	}
	original := strings.Join(strings.Fields(text), " ")
	for _, found := range offset.FindAllString(original, -1) {
		original = strings.TrimSpace(strings.Replace(original, found, " ", 1))
	}
	if t, err := parseTime(original, day); err == nil {
		return moved(t), nil
	}
	return time.Time{}, fmt.Errorf("invalid date ‘%s’", text)
}

func parseTime(text string, day time.Time) (time.Time, error) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST",
		"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "20060102", "01/02/2006", "2 Jan 2006", "Jan 2 2006",
		"Jan 2, 2006", "2 January 2006", "January 2, 2006", "Mon Jan 2 15:04:05 MST 2006", "Mon, 02 Jan 2006 15:04:05 -0700",
		"Mon Jan 2 15:04:05 2006", "2006-01-02 15:04:05.999999999",
	} {
		if t, err := time.ParseInLocation(layout, text, day.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", text)
}

// shift moves a time by one offset as the expression offset found it.
func shift(t time.Time, found []string) time.Time {
	n, err := strconv.Atoi(found[2])
	if err != nil {
		n = 1
	}
	if found[1] == "-" {
		n = -n
	}
	if found[4] != "" || strings.EqualFold(found[2], "last") {
		n = -n
	}
	switch strings.ToLower(found[3]) {
	case "second", "sec":
		return t.Add(time.Duration(n) * time.Second)
	case "minute", "min":
		return t.Add(time.Duration(n) * time.Minute)
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "day":
		return t.AddDate(0, 0, n)
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "fortnight":
		return t.AddDate(0, 0, 14*n)
	case "month":
		return t.AddDate(0, n, 0)
	}
	return t.AddDate(n, 0, 0)
}

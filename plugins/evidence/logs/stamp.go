package logs

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Time stamps are looked for where lines have them: in their first bytes.
const stampWindow = 256

var (
	isoStamp    = regexp.MustCompile(`\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?`)
	commonStamp = regexp.MustCompile(`\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}`)
	syslogStamp = regexp.MustCompile(`^(?:<\d{1,3}>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}:\d{2}:\d{2})`)
	klogStamp   = regexp.MustCompile(`^[IWEF](\d{4}) (\d{2}:\d{2}:\d{2}\.\d{6})`)
	epochStamp  = regexp.MustCompile(`(?:^|"(?:ts|time|timestamp|@timestamp)" ?: ?"?|\bts=)(\d{10}(?:\.\d{1,9})?|\d{13})\b`)
)

// stamps reads the times of lines. Lines without an offset are from zone; lines without a year are from the last
// year.
type stamps struct {
	zone *time.Location
	now  time.Time
}

// read finds the time of a line.
func (s stamps) read(line string) (at time.Time, found bool) {
	head := line[:min(len(line), stampWindow)]
	if text := isoStamp.FindString(head); text != "" {
		return s.iso(text)
	}
	if text := commonStamp.FindString(head); text != "" {
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", text)
		return at, err == nil
	}
	if part := syslogStamp.FindStringSubmatch(head); part != nil {
		return s.yearless("Jan 2 15:04:05", part[1]+" "+part[2]+" "+part[3])
	}
	if part := klogStamp.FindStringSubmatch(head); part != nil {
		return s.yearless("0102 15:04:05.000000", part[1]+" "+part[2])
	}
	if part := epochStamp.FindStringSubmatch(head); part != nil {
		return epoch(part[1])
	}
	return time.Time{}, false
}

func (s stamps) iso(text string) (time.Time, bool) {
	text = strings.Replace(strings.Replace(text, ",", ".", 1), "T", " ", 1)
	text = strings.ReplaceAll(text[:10], "/", "-") + text[10:]
	for _, layout := range []string{
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05", text, s.zone)
	return at, err == nil
}

// yearless reads a time that names no year: the last one that is not more than an hour ahead.
func (s stamps) yearless(layout, text string) (time.Time, bool) {
	at, err := time.ParseInLocation("2006 "+layout, strconv.Itoa(s.now.In(s.zone).Year())+" "+text, s.zone)
	if err != nil {
		return time.Time{}, false
	}
	if at.After(s.now.Add(time.Hour)) {
		at = at.AddDate(-1, 0, 0)
	}
	return at, true
}

func epoch(text string) (time.Time, bool) {
	if len(text) == 13 && !strings.Contains(text, ".") {
		millis, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMilli(millis), err == nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	return time.UnixMilli(int64(seconds * 1000)), err == nil
}

package metrics

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// metricName is a name that a title may show.
var metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]{0,63}$`)

// answer makes one item of all series. The first ones are named, in the server's order, which is the one that sort and
// topk ask for; how many were left out is said.
func (s *Source) answer(asked question, got reply) fact.Answer {
	named := got.series[:min(len(got.series), s.config.Series)]
	facts := []fact.Fact{{Name: "series", Value: strconv.Itoa(len(got.series))}}
	var excerpt strings.Builder
	for _, one := range named {
		facts = append(facts, one.facts(asked)...)
		if excerpt.Len() <= s.config.Excerpt {
			one.write(&excerpt)
		}
	}
	notes := s.notes(asked, got, len(got.series)-len(named))
	if len(got.series) == 0 {
		excerpt.WriteString("no series\n")
	}
	return fact.Answer{
		Evidence: []fact.Item{{
			Source: "metrics", Title: title(asked, got.series), ObservedAt: fact.At(asked.at),
			Facts: facts, Excerpt: strings.TrimSuffix(excerpt.String(), "\n"),
		}},
		Note: strings.Join(notes, " "),
	}
}

// unasked is the answer to a query that selects no series: what it holds itself is no evidence.
func unasked(asked question) fact.Answer {
	return fact.Answer{
		Evidence: []fact.Item{{
			Source: "metrics", Title: "Metrics: none was read", ObservedAt: fact.At(asked.at), Facts: []fact.Fact{},
		}},
		Note: "The query selects no series: its values are its own and no evidence, and are not repeated.",
	}
}

func (s *Source) notes(asked question, got reply, left int) []string {
	var notes []string
	if len(got.series) == 0 {
		notes = append(notes, "No series matches: the name or a label is not there, or its samples are older than Prometheus looks back.")
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d further series were left out: select fewer, or use topk or sum.", left))
	}
	if asked.thinnedOut {
		notes = append(notes, fmt.Sprintf("The step was widened to %s.", asked.step))
	}
	if len(got.Warnings) > 4 {
		notes = append(notes, "Prometheus gave warnings: the answer may be incomplete.")
	}
	odd, shapes := 0, 0
	for _, one := range got.series {
		shapes += one.shapes
		for _, each := range one.samples {
			if _, ok := each.number(); !ok {
				odd++
			}
		}
	}
	if odd > 0 {
		notes = append(notes, fmt.Sprintf("%d samples are no finite numbers (NaN or Inf); they count in no minimum, maximum or mean.", odd))
	}
	if shapes > 0 {
		notes = append(notes, "Native histograms are not shown: use histogram_quantile or histogram_count.")
	}
	return notes
}

// title names the metric where all series are of one. It shows no label and no value, and no name that the query made:
// label_replace could write anything there.
func title(asked question, all []series) string {
	what := "Metrics"
	if len(all) > 0 && !strings.Contains(strings.ToLower(asked.query), "label_") && metricName.MatchString(all[0].labels["__name__"]) &&
		!slices.ContainsFunc(all, func(one series) bool { return one.labels["__name__"] != all[0].labels["__name__"] }) {
		what = "Metric " + all[0].labels["__name__"]
	}
	count := fmt.Sprintf("%d series", len(all))
	if len(all) == 0 {
		count = "no series"
	}
	if !asked.start.IsZero() {
		return fmt.Sprintf("%s over %s: %s", what, asked.at.Sub(asked.start).Round(time.Second), count)
	}
	return what + ": " + count
}

// name writes a series as PromQL does, labels in order.
func (s series) name() string {
	var text strings.Builder
	text.WriteString(s.labels["__name__"])
	labels := slices.DeleteFunc(slices.Sorted(maps.Keys(s.labels)), func(label string) bool { return label == "__name__" })
	for i, label := range labels {
		text.WriteString([]string{"{", ", "}[min(i, 1)])
		text.WriteString(label + "=" + strconv.Quote(s.labels[label]))
	}
	if len(labels) > 0 {
		text.WriteByte('}')
	}
	if text.Len() == 0 {
		return "value"
	}
	return text.String()
}

func (s series) facts(asked question) []fact.Fact {
	name, unit := s.name(), fact.Unit(s.labels["__name__"])
	if len(s.samples) == 0 {
		return nil
	}
	last := s.samples[len(s.samples)-1]
	if asked.start.IsZero() {
		return []fact.Fact{{Name: name, Value: last.text, Unit: unit}}
	}
	facts := []fact.Fact{
		{Name: "first of " + name, Value: s.samples[0].text, Unit: unit}, {Name: "last of " + name, Value: last.text, Unit: unit},
	}
	if low, high, mean, some := s.bounds(); some {
		facts = append(facts,
			fact.Fact{Name: "minimum of " + name, Value: low.text, Unit: unit},
			fact.Fact{Name: "maximum of " + name, Value: high.text, Unit: unit},
			fact.Fact{Name: "time of maximum of " + name, Value: fact.At(high.at)},
			fact.Fact{Name: "mean of " + name, Value: strconv.FormatFloat(mean, 'g', 6, 64), Unit: unit})
	}
	facts = append(facts, fact.Fact{Name: "samples of " + name, Value: strconv.Itoa(len(s.samples))})
	if last.at.Before(asked.at.Add(-asked.step)) {
		facts = append(facts, fact.Fact{Name: "end of " + name, Value: fact.At(last.at)})
	}
	return facts
}

// bounds finds the least, the greatest and the mean of the finite samples.
func (s series) bounds() (low, high sample, mean float64, some bool) {
	least, greatest, count := math.Inf(1), math.Inf(-1), 0.0
	for _, one := range s.samples {
		number, finite := one.number()
		if !finite {
			continue
		}
		if number < least {
			least, low = number, one
		}
		if number > greatest {
			greatest, high = number, one
		}
		count++
		mean += (number - mean) / count
	}
	return low, high, mean, count > 0
}

// number reads a sample; NaN and the infinities are none.
func (s sample) number() (number float64, finite bool) {
	number, err := strconv.ParseFloat(s.text, 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}

// write shows a series and, of a range, a few of its samples evenly spread.
func (s series) write(to *strings.Builder) {
	to.WriteString(s.name())
	const most = 12
	stride := max((len(s.samples)+most-1)/most, 1)
	for i := 0; i < len(s.samples); i += stride {
		one := s.samples[i]
		if len(s.samples) == 1 {
			fmt.Fprintf(to, " %s", one.text)
			continue
		}
		fmt.Fprintf(to, "\n  %s %s", one.at.UTC().Format(time.RFC3339), one.text)
	}
	to.WriteByte('\n')
}

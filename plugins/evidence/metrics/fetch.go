package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// reply is an answer of the server, as far as it counts.
type reply struct {
	Status    string          `json:"status"`
	ErrorType string          `json:"errorType"`
	Warnings  json.RawMessage `json:"warnings"`
	Data      struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`

	series []series
}

// series is one line of numbers, oldest first.
type series struct {
	labels  map[string]string
	samples []sample
	shapes  int // samples that are histograms
}

type sample struct {
	at   time.Time
	text string // the number as the server wrote it
}

// fetch asks the server once.
func (s *Source) fetch(ctx context.Context, asked question) (reply, error) {
	body, status, err := s.post(ctx, asked)
	if err != nil {
		return reply{}, err
	}
	if status >= 300 && status < 400 {
		return reply{}, fact.Unavailable("Prometheus answered with a redirect, which is not followed.", nil)
	}
	var answer reply
	if err := json.Unmarshal(body, &answer); err != nil {
		return reply{}, fact.Unavailable(fmt.Sprintf("Prometheus answered with HTTP status %d and no answer of its API.", status), err)
	}
	if answer.Status != "success" {
		return reply{}, refusal(answer.ErrorType, status)
	}
	if answer.series, err = decode(answer.Data.ResultType, answer.Data.Result); err != nil {
		return reply{}, fact.Unavailable("Prometheus answered in a form that is not known.", err)
	}
	return answer, nil
}

func (s *Source) post(ctx context.Context, asked question) (body []byte, status int, err error) {
	form := url.Values{"query": {asked.query}}
	where := s.base.JoinPath("api", "v1", "query")
	if asked.start.IsZero() {
		form.Set("time", stamp(asked.at))
	} else {
		where = s.base.JoinPath("api", "v1", "query_range")
		form.Set("start", stamp(asked.start))
		form.Set("end", stamp(asked.at))
		form.Set("step", strconv.FormatFloat(asked.step.Seconds(), 'f', 3, 64))
	}
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); left > 0 {
			form.Set("timeout", strconv.FormatInt(left.Milliseconds()+1, 10)+"ms")
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, where.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, 0, fact.Unavailable("Prometheus cannot be asked.", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, 0, unreachable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(response.Body, s.config.ResponseBytes+1))
	switch {
	case err != nil:
		return nil, 0, unreachable(ctx, err)
	case int64(len(body)) > s.config.ResponseBytes:
		return nil, 0, fact.Refuse("Prometheus has more to answer than is read: ask for fewer series, or sum them up.")
	}
	return body, response.StatusCode, nil
}

func stamp(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

// unreachable says why nothing came. The words of a rule that forbids the way are ours and may be shown.
func unreachable(ctx context.Context, err error) error {
	var told interface {
		Refused() bool
		SafeSentence() string
	}
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fact.Unavailable("Prometheus did not answer in time.", err)
	case ctx.Err() != nil:
		return fact.Unavailable("the call was cancelled.", err)
	case errors.As(err, &told) && told.Refused():
		return fact.Unavailable("Prometheus is not reached: "+told.SafeSentence(), err)
	}
	return fact.Unavailable("Prometheus cannot be reached.", err)
}

// refusal translates what the server says about a query that it did not answer.
func refusal(kind string, status int) error {
	switch kind {
	case "bad_data":
		return fact.Refuse("Prometheus refused the query: it is no valid PromQL, or the times do not fit.")
	case "timeout":
		return fact.Refuse("Prometheus took too long over the query: ask for less.")
	case "canceled":
		return fact.Unavailable("Prometheus gave the query up.", nil)
	case "execution":
		return fact.Refuse("Prometheus could not evaluate the query: it may select too much, or match series in two ways.")
	}
	return fact.Unavailable(fmt.Sprintf("Prometheus did not answer the query (HTTP status %d).", status), nil)
}

// wireSeries is a series of a vector (value) or of a matrix (values).
type wireSeries struct {
	Metric     map[string]string `json:"metric"`
	Value      *wireSample       `json:"value"`
	Values     []wireSample      `json:"values"`
	Histogram  json.RawMessage   `json:"histogram"`
	Histograms []json.RawMessage `json:"histograms"`
}

// wireSample is [seconds, "number"].
type wireSample sample

// UnmarshalJSON reads the pair.
func (w *wireSample) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
		return errors.New("a sample is no pair")
	}
	var seconds float64
	if err := json.Unmarshal(pair[0], &seconds); err != nil {
		return fmt.Errorf("read a sample's time: %w", err)
	}
	w.at = time.UnixMilli(int64(seconds * 1000))
	if err := json.Unmarshal(pair[1], &w.text); err != nil {
		return fmt.Errorf("read a sample: %w", err)
	}
	return nil
}

func decode(kind string, result json.RawMessage) ([]series, error) {
	if kind == "scalar" || kind == "string" {
		var one wireSample
		if err := json.Unmarshal(result, &one); err != nil {
			return nil, fmt.Errorf("read a scalar: %w", err)
		}
		return []series{{samples: []sample{sample(one)}}}, nil
	}
	if kind != "vector" && kind != "matrix" {
		return nil, errors.New("unknown kind of result")
	}
	var wire []wireSeries
	if err := json.NewDecoder(bytes.NewReader(result)).Decode(&wire); err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	all := make([]series, 0, len(wire))
	for _, one := range wire {
		read := series{labels: one.Metric, shapes: len(one.Histograms)}
		if one.Histogram != nil {
			read.shapes++
		}
		if one.Value != nil {
			read.samples = []sample{sample(*one.Value)}
		}
		for _, each := range one.Values {
			read.samples = append(read.samples, sample(each))
		}
		all = append(all, read)
	}
	return all, nil
}

package blackbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// waitLimit is how long a test waits for what must come.
const waitLimit = 60 * time.Second

// fewConnections is the client of crowds: they share connections that stay open.
var fewConnections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// reply is an answer over HTTP.
type reply struct {
	status int
	raw    []byte
	err    error
}

// code is the stable code of a refusal.
func (r reply) code() string {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(r.raw, &body)
	return body.Error.Code
}

func (r reply) String() string { return fmt.Sprintf("%d %v %s", r.status, r.err, r.raw) }

// send is request for goroutines: it fails no test.
func (c *cluster) send(node int, method, path string, body any, headers ...string) reply {
	raw, err := json.Marshal(body)
	if err != nil {
		return reply{err: err}
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequest(method, c.nodes[node].url+path, reader)
	if err != nil {
		return reply{err: err}
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := fewConnections.Do(request)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	raw, err = io.ReadAll(response.Body)
	return reply{response.StatusCode, raw, err}
}

// tail opens a run's stream behind an event; it fails no test.
func (c *cluster) tail(node int, id, last string) (*frames, error) {
	request, err := http.NewRequest("GET", c.nodes[node].url+"/v1/runs/"+id+"/stream", nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("stream of %s: %s", id, response.Status)
	}
	return &frames{t: c.t, reader: bufio.NewReader(response.Body), body: response.Body}, nil
}

// pending returns the approvals of a run that wait, at a node.
func (c *cluster) pending(node int, id string) []map[string]any {
	c.t.Helper()
	_, raw := c.nodes[node].request("GET", "/v1/approvals?status=pending&run_id="+id, nil)
	var all []map[string]any
	for _, one := range c.nodes[node].object(raw)["approvals"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// awaitPending waits until one approval of a run waits, and returns it.
func (c *cluster) awaitPending(node int, id string) map[string]any {
	c.t.Helper()
	var all []map[string]any
	c.nodes[node].await(waitLimit, func() (bool, string) {
		all = c.pending(node, id)
		return len(all) == 1, fmt.Sprintf("%d approvals of run %s wait", len(all), id)
	})
	return all[0]
}

package blackbox

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// loadConfig is the configuration of the load tests: room for 200 streams and more, nothing else changed.
const loadConfig = "workers: {chat: 256}\n"

// crowd is what became of many streams that ran at once.
type crowd struct {
	done, errors, calls, refused int
	took                         []time.Duration // of each, from the request to the end of the stream
}

// crowd asks n questions at once, each on a connection of its own, and reads every stream to its end.
func (s *service) crowd(n int, question string) *crowd {
	s.t.Helper()
	body := mustJSON(s.t, ask(question, nil))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var mu sync.Mutex
	var all sync.WaitGroup
	c, start := &crowd{}, make(chan struct{})
	for range n {
		all.Go(func() {
			<-start
			began := time.Now()
			text, status := readStream(client, s.url, body)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			c.count(text, status, took)
		})
	}
	close(start)
	all.Wait()
	slices.Sort(c.took)
	return c
}

func (c *crowd) count(text string, status int, took time.Duration) {
	if status != http.StatusOK {
		c.refused++
	}
	if strings.HasSuffix(text, "\n\nevent: done\ndata: [DONE]\n\n") {
		c.done++
	}
	c.errors += strings.Count(text, "\nevent: error\n")
	c.calls += strings.Count(text, "\nevent: tool_result\n")
	c.took = append(c.took, took)
}

// quantile is a duration of which the part of all streams was not slower.
func (c *crowd) quantile(part float64) time.Duration { return c.took[int(part*float64(len(c.took)-1))] }

func readStream(client *http.Client, url string, body []byte) (text string, status int) {
	response, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return err.Error(), 0
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error(), 0
	}
	return string(raw), response.StatusCode
}

// neverRead opens the stream of a run on a bare connection and takes nothing of it.
func (s *service) neverRead(run string) net.Conn {
	s.t.Helper()
	host := strings.TrimPrefix(s.url, "http://")
	connection, err := net.Dial("tcp", host)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := connection.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET /v1/runs/%s/stream HTTP/1.1\r\nHost: %s\r\n\r\n", run, host)
	return connection
}

var goroutineMetric = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

// goroutines asks the service how many it has.
func (s *service) goroutines() int {
	s.t.Helper()
	_, raw := s.request("GET", "/metrics", nil)
	found := goroutineMetric.FindSubmatch(raw)
	if found == nil {
		s.t.Fatalf("/metrics tells no go_goroutines:\n%s", raw)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// awaitReady waits until every plugin is compiled, which takes the processors for a while.
func (s *service) awaitReady() {
	s.t.Helper()
	s.await(60*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/ready", nil)
		return s.object(raw)["status"] == "ready", fmt.Sprintf("the service is never ready: %s", raw)
	})
}

// awaitBaseline waits until the service has no more goroutines and open files than before.
func (s *service) awaitBaseline(goroutines, files int) {
	s.t.Helper()
	s.await(30*time.Second, func() (bool, string) {
		http.DefaultClient.CloseIdleConnections()
		nowG, nowF := s.goroutines(), s.openFiles()
		return nowG <= goroutines && nowF <= files,
			fmt.Sprintf("%d goroutines and %d open files, before %d and %d", nowG, nowF, goroutines, files)
	})
}

// TestTwoHundredStreamsAtOnceAllReachTheirEnd also waits until nothing of them is left in the service.
func TestTwoHundredStreamsAtOnceAllReachTheirEnd(t *testing.T) {
	s := start(t, newModel(t, searchThenAnswer), loadConfig)
	s.awaitReady()
	s.crowd(1, "Question")
	goroutines, files := s.goroutines(), s.openFiles()
	c := s.crowd(200, "Question")
	if c.done != 200 || c.errors != 0 || c.refused != 0 || c.calls != 200 {
		t.Errorf("of 200 streams %d reached done, %d were refused; %d errors, %d tool results", c.done, c.refused, c.errors, c.calls)
	}
	t.Logf("200 streams at once: p50 %v, p99 %v", c.quantile(0.5), c.quantile(0.99))
	// The store keeps up to eight connections of two files each.
	s.awaitBaseline(goroutines+4, files+20)
}

// loadRounds is how often a comparison is made and what it may show at most: strict where make load asks for many
// rounds, generous in a test run that shares its machine.
func loadRounds(t *testing.T) (rounds int, bound float64) {
	t.Helper()
	asked := os.Getenv("FASTREACT_LOAD_ROUNDS")
	if asked == "" {
		return 3, 4
	}
	rounds, err := strconv.Atoi(asked)
	if err != nil || rounds < 1 {
		t.Fatalf("FASTREACT_LOAD_ROUNDS is %q", asked)
	}
	return rounds, 1.2
}

// TestAReaderThatNeverReadsHardlyDelaysTwoHundredOthers compares neighbouring rounds of 200 streams: alone, and beside
// a reader that takes nothing of a stream which is larger than the kernel's buffers.
func TestAReaderThatNeverReadsHardlyDelaysTwoHundredOthers(t *testing.T) {
	s := startLying(t, newModel(t, queryTheQuestion), loadConfig)
	s.awaitReady()
	s.stream(ask("giant", map[string]any{"metadata": map[string]any{"run_id": "large"}})).rest()
	rounds, bound := loadRounds(t)
	s.crowdP99()
	var ratios, alone, beside []float64
	for round := range rounds {
		pair := [2]float64{}
		for _, never := range [][]int{{0, 1}, {1, 0}}[round%2] { // what grows in the course of the test favours neither
			var connection io.Closer = io.NopCloser(nil)
			if never == 1 {
				connection = s.neverRead("large")
			}
			pair[never] = s.crowdP99()
			_ = connection.Close()
		}
		alone, beside = append(alone, pair[0]), append(beside, pair[1])
		ratios = append(ratios, pair[1]/pair[0])
	}
	ratio := median(ratios)
	t.Logf("p99 of 200 streams, medians of %d rounds: %.0f ms alone, %.0f ms beside a reader that never reads; ratio %.2f of %.2f",
		rounds, median(alone), median(beside), ratio, ratios)
	if ratio > bound {
		t.Errorf("one reader that never reads slows the others down %.2f times, at most %.1f are allowed", ratio, bound)
	}
}

// crowdP99 returns the p99, in milliseconds, of 200 streams, all of which must reach their end.
func (s *service) crowdP99() float64 {
	s.t.Helper()
	c := s.crowd(200, "quick")
	if c.done != 200 || c.errors != 0 || c.calls != 200 {
		s.t.Errorf("%d of 200 streams reached done, %d errors, %d tool results", c.done, c.errors, c.calls)
	}
	return float64(c.quantile(0.99).Microseconds()) / 1000
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}

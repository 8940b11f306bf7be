package blackbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	raceRounds  = 50
	contestants = 50
)

// raceAnswers lets people approve and deny, and time expire, at once and at both nodes.
func (w *twoNodes) raceAnswers(t *testing.T) {
	for round := range raceRounds {
		w.submit(round%2, raceID(round), "bump "+raceID(round))
	}
	approvals := w.awaitRacers()
	dice := rand.New(rand.NewPCG(5, 50))
	winners := map[string]int{}
	for round := range raceRounds {
		winners[w.race(raceID(round), approvals[raceID(round)], dice)]++
	}
	for round := range raceRounds {
		w.nodes[0].awaitStatus(raceID(round), "completed")
	}
	executions := 0
	for round := range raceRounds {
		executions += len(w.deeds(raceID(round)))
	}
	if executions != winners["approved"] {
		t.Errorf("%d executions of %d approved calls", executions, winners["approved"])
	}
	t.Logf("%d rounds of %d: %v, %d executions", raceRounds, contestants, winners, executions)
}

func raceID(round int) string { return fmt.Sprintf("race-%02d", round) }

// awaitRacers waits until every run waits for a person, and returns the approvals by run.
func (w *twoNodes) awaitRacers() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	w.nodes[0].await(waitLimit, func() (bool, string) {
		_, raw := w.nodes[0].request("GET", "/v1/approvals?status=pending&limit=100", nil)
		for _, one := range w.nodes[0].object(raw)["approvals"].([]any) {
			record := one.(map[string]any)
			if id := record["run_id"].(string); strings.HasPrefix(id, "race-") {
				found[id] = record["request_id"].(string)
			}
		}
		return len(found) == raceRounds, fmt.Sprintf("%d runs wait", len(found))
	})
	return found
}

// contestant does one thing to an approval and keeps what it heard. One that only looks is how time wins.
type contestant struct {
	node int
	does string // approve, deny or look
	got  reply
}

var contests = [3]string{"approve", "deny", "look"}

// race runs one round and returns who won. Time ends after one to 512 milliseconds: how fast a race is depends on what
// else the machine does.
func (w *twoNodes) race(id, approval string, dice *rand.Rand) string {
	w.t.Helper()
	all := make([]contestant, contestants)
	many := dice.IntN(3)
	for i := range all {
		all[i] = contestant{node: dice.IntN(2), does: contests[many]}
		if i < 6 {
			all[i].does = contests[(many+1+i%2)%3]
		}
	}
	dice.Shuffle(contestants, func(i, j int) { all[i], all[j] = all[j], all[i] })
	w.expireIn(approval, time.Millisecond<<dice.IntN(10))
	start := make(chan struct{})
	var ready, racing sync.WaitGroup
	for i := range all {
		ready.Add(1)
		racing.Go(func() {
			ready.Done()
			<-start
			all[i].got = w.compete(all[i], approval)
		})
	}
	ready.Wait()
	close(start)
	racing.Wait()
	winner := w.settledAs(approval)
	for _, c := range all {
		if wrong := c.contradicts(winner); wrong != "" {
			w.t.Errorf("run %s is %s, but who wanted to %s at node %d heard that %s", id, winner["status"], c.does, c.node+1, wrong)
		}
	}
	return winner["status"].(string)
}

// expireIn makes the time of an approval end soon.
func (w *twoNodes) expireIn(approval string, in time.Duration) {
	w.t.Helper()
	w.sql(fmt.Sprintf("UPDATE approvals SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + %d WHERE id = '%s'",
		in.Microseconds(), approval))
}

func (w *twoNodes) compete(c contestant, approval string) reply {
	if c.does == "look" {
		return w.send(c.node, "GET", "/v1/approvals/"+approval, nil)
	}
	return w.send(c.node, "POST", "/v1/approvals/"+approval+"/"+c.does, nil)
}

// settledAs waits until an approval is over and returns its record, which both nodes must tell alike.
func (w *twoNodes) settledAs(approval string) map[string]any {
	w.t.Helper()
	var record map[string]any
	w.nodes[0].await(waitLimit, func() (bool, string) {
		_, raw := w.nodes[0].request("GET", "/v1/approvals/"+approval, nil)
		record = w.nodes[0].object(raw)["approval"].(map[string]any)
		return record["status"] != "pending", string(raw)
	})
	_, raw := w.nodes[1].request("GET", "/v1/approvals/"+approval, nil)
	if other := w.nodes[1].object(raw)["approval"].(map[string]any); fmt.Sprint(other) != fmt.Sprint(record) {
		w.t.Errorf("node 1 says %v, node 2 %v", record, other)
	}
	return record
}

// contradicts says what a contestant heard that cannot be true when the approval ended as winner.
func (c contestant) contradicts(winner map[string]any) string {
	var body struct {
		Approval map[string]any `json:"approval"`
	}
	_ = json.Unmarshal(c.got.raw, &body)
	won := map[string]string{"approve": "approved", "deny": "denied"}[c.does] == winner["status"]
	switch heard := fmt.Sprint(body.Approval) == fmt.Sprint(winner); {
	case c.got.err != nil:
	case c.does == "look" && c.got.status == 200 && (heard || body.Approval["status"] == "pending"):
		return ""
	case c.does != "look" && won && c.got.status == 200 && heard:
		return ""
	case c.does != "look" && !won && c.got.status == 409 && c.got.code() == "approval_settled":
		return ""
	}
	return c.got.String()
}

package blackbox

import "testing"

// TestTwoNodes shows what two nodes of the service on one database are together.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	model, _ := newPlanned(t)
	c := startCluster(t, model, clusterConfig{})
	c.fact("a run begun at one ends for readers of the other", func(t *testing.T) {
		c.submit(0, "first", "deed a; safe b")
		if all := kinds(c.log(1, "first")); all[len(all)-1] != "done" {
			t.Errorf("events %v", all)
		}
		if len(c.deeds("a")) != 1 || len(c.deeds("b")) != 1 {
			t.Errorf("deeds %v %v", c.deeds("a"), c.deeds("b"))
		}
	})
}

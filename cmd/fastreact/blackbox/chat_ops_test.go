package blackbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// namesInOps are what differs from run to run.
var namesInOps = regexp.MustCompile(`session-[0-9A-Z]+|run-[0-9A-Z]+|m-[0-9a-f]{8}-1|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// TestAiOpsIsWhatItWasWhateverChatIsSetTo is the seed's "AiOps regression": the transcript of testdata, byte for byte,
// under the default settings and under others. Delete nothing from it: other programs read it.
func TestAiOpsIsWhatItWasWhateverChatIsSetTo(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/ai_ops.golden")
	if err != nil {
		t.Fatal(err)
	}
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"ALERTS","alertname":"CheckoutSlow","alertstate":"firing","severity":"page"},"value":[1780246800,"1"]}]}}`)
	}))
	t.Cleanup(metrics.Close)
	model := newModel(t, func(a asked) said {
		if len(a.Tools) > 0 && len(a.toolResults()) == 0 {
			return call("query_metrics", `{"query":"ALERTS{alertstate=\"firing\"}"}`)
		}
		return said{text: draft("CheckoutSlow is firing.", "CheckoutSlow is firing.", a.cited()...)}
	})
	for name, more := range map[string]string{
		"as it comes": "",
		"other settings": ", max_steps: 5, max_tool_calls: 3, max_repairs: 2, max_request_bytes: 300, max_content_bytes: 9000, " +
			"stream_timeout: 61s, run_timeout: 60s, worker: {size: 2, queue: 3}, model: {size: 2, queue: 2, timeout: 9s}, " +
			"tool: {size: 1, queue: 1, timeout: 7s}, canonical: {ttl: 61s, max_items: 3, max_item_bytes: 9000, max_bytes: 10000}",
	} {
		s := start(t, model, fmt.Sprintf("harness: {chat: {evidence: {prometheus: {url: %q}}%s}}\n", metrics.URL, more))
		for _, body := range []any{nil, `{}`, `{"alert":"CheckoutSlow"}`} {
			v := s.visit("/api/ai_ops", body)
			got := ""
			for _, one := range v.all {
				got += namesInOps.ReplaceAllString(one.raw, "NAME") + "\n\n"
			}
			if diff := cmp.Diff(string(want), got); diff != "" || v.status != http.StatusOK {
				t.Errorf("%s, %v: %d (-want +got):\n%s", name, body, v.status, diff)
			}
		}
	}
}

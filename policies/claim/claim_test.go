package claim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/policies/claim"
)

// holdings are what three evidence items could hold.
func holdings() *claim.Holdings {
	h := claim.NewHoldings()
	for _, text := range []string{
		"observed 2026-11-30T10:15:00.250Z",
		"p95 latency 2.4 s", "requests 1234567", "share of errors 37.5 %", "hits 0.95", "rows 8,192", "offset -17",
		"ERROR db-7:3306 connection refused after 30s (attempt 4/5), trace 4f1c-9a2e",
		"level=warn msg=\"pool exhausted: 64 of 64\" took=1.5e-3 code=503 host=10.0.0.12:8080",
		"between 100 and 250 ms, status:429, twelve workers, v1.24.3, disk at 512MiB, 3.5e+06 bytes",
		"histogram_quantile(0.99, rate(http_request_duration_seconds_bucket[5m]))", "½ full", "1.2k calls", "over 6h0m0s", "after 1h45m",
	} {
		h.Add(text)
	}
	h.AddQuantity("42", "%")
	h.AddQuantity("7.25", "ms")
	h.AddQuantity("-3", "")
	h.AddNames("Orders of shop-9 above 777777")
	return h
}

func TestHonestClaimsAreHeld(t *testing.T) {
	h := holdings()
	for _, text := range []string{
		"Nothing is wrong.", "", "One target of three is down.", "It happened twice, in the first half.",
		"The latency is 2.4 s.", "The latency is 2.4s.", "The latency is 2.40 seconds.", "p95 is 2.4.", "P95 = 2.4 s",
		"The 95th percentile is 2.4 s.", "The 99th percentile is slow.", "p99 is slow.",
		"1234567 requests", "1,234,567 requests", "1'234'567 requests", "1_234_567 requests", "1\u202f234\u202f567 requests",
		"1.234567e6 requests", "1.234567E+6 requests", "1.234567 million requests", "1.234.567,0 requests",
		"37.5% failed", "37.5 % failed", "37.5 percent failed", "a share of 0.375", "37,5 % failed",
		"a hit rate of 95%", "a hit rate of .95", "8192 rows", "8,192.0 rows", "8192", "(8192)", "#8192", "$8192", "8192?", "x=8192",
		"an offset of -17", "an offset of −17", "an offset of –17.", "-3 degrees",
		"db-7 refuses connections", "DB-7's disk", "db-7:3306 refuses", "at 10:15", "at 10:15:00 UTC", "since 2026-11-30T10:15:00Z",
		"on 2026-11-30", "on 30 November 2026", "on November 30, 2026", "on Nov 30", "on the 30th of November", "in 2026", "in November 2026, on the 30th",
		"after 30 s", "after a 30-second wait", "4 of 5 attempts", "4/5 attempts", "attempt 4/5", "64 of 64 connections", "64/64 connections",
		"took 0.0015", "HTTP 503", "5xx answers", "4xx answers", "from 10.0.0.12", "from 10.0.0.12:8080", "100-250 ms", "100–250 ms", "100 ms to 250 ms",
		"429 was answered", "status 429", "12 workers", "twelve workers", "a dozen workers", "version 1.24.3 of v1.24.3", "512 MiB", "512MB", "3500000 bytes",
		"over 6 hours", "over the last 6h", "after 1h45m", "after 1h45m0s", "over 5 minutes", "a 5-minute rate", "[5m]", "42%", "42", "7.25 ms", "7.25ms", "7.25",
		"It says \"connection refused\".", "It says “connection refused.”", "It says 'Connection refused'", "`pool exhausted: 64 of 64`",
		"«pool exhausted…»", "\"ERROR … connection refused\"", "the log's 'pool exhausted'", "the services' logs and the users' calls", "''pool exhausted''",
		"**12** workers", "1**2** workers", "*db-7* says *no*", "１２ workers", "٦٤ of 64", "trace 4f1c-9a2e", "½ full", "1200 calls", "1.2k calls", "shop-9 is slow", "12个请求失败了", "IPv4 and UTF-8 and k8s and HTTP/1.1",
	} {
		if missing := claim.Missing(text, h); len(missing) > 0 {
			t.Errorf("%q: missing %s", text, show(missing))
		}
	}
}

func TestInventedClaimsAreMissing(t *testing.T) {
	h := holdings()
	for _, text := range []string{
		"The latency is 2.5 s.", "The latency is 24 s.", "The latency is 2.4 ms.", "2.41", "2.4.1", "2", "1234568 requests", "1,234 requests", "1234 requests",
		"123,4567 requests", "1.234567 requests", "1234567k requests", "37% failed", "38 % failed", "3.75", "a hit rate of 96%", "95 hits", "819 rows", "8192000", "81,92",
		"an offset of 17", "7 refused", "db-8 refuses connections", "db-77", "db-7:3307", "3306 failures in db-9", "at 10:16", "at 15:00", "at 00:10",
		"2026-11-29", "2026-12-30", "on 29 November 2026", "on November 30, 2025", "on Dec 30", "in 2025", "11 errors", "15 errors", "November 11",
		"after 31 s", "after 30 ms", "6 of 7 attempts", "4/9 attempts", "65 of 64", "took 0.015", "HTTP 500", "3xx answers", "from 10.0.0.1", "from 10.0.0.123", "10.0.0", "100-251 ms", "99–250 ms",
		"thirteen workers", "one hundred and twelve workers", "twenty-one workers", "four hundred workers", "six thousand workers", "two dozen workers", "1.24.4", "v1.24", "512 GiB", "513MiB",
		"over 6 minutes", "over 6h10m", "1h46m", "a 7-minute rate", "43%", "7.25 s", "7.26 ms", "1.3k calls", "777777", "777777 orders", "shop-10",
		"\"connection reset\"", "“connection refuse”", "'pool is empty'", "`orders`", "«nothing»", "\"pool exhausted … by a leak\"", "\"64 of 6\"", "„disk full“",
		"\"connection refused by db\"", "\"never closed, and invented", "''invented''", "＂invented＂", "‘invented’", "「invented」", "「捏造」", "《捏造》", "〈invented〉", "⟪invented⟫", "⟨invented⟩", "ˮinventedˮ", "⸢invented⸣",
		"１３ workers", "٧ workers", "1\u200b3 workers", "1\u00ad3 workers", "1\u03013 workers", "𝟙𝟛 workers", "²", "¼ full", "⑬", "Ⅻ workers", "13个请求失败了", "1O workers", "l3 workers", "4f1c-9a2f",
		"1**3** workers", "**1**3 workers", "1\\3 workers", "*1*~3~", "64,503", "p90 is slow", "the 90th percentile", "99.9%", "0b11", "0x1f errors", "1e9 errors", "+13", "~13", ">13", "13+", "13.", ".13", "13:", "a13b",
	} {
		if len(claim.Missing(text, h)) == 0 {
			t.Errorf("%q is taken for held", text)
		}
	}
}

func TestATextTakenUpForItsNamesHoldsNothingElse(t *testing.T) {
	h := claim.NewHoldings()
	h.AddNames("9000 failures of shop-9 at 'midnight'")
	for text, want := range map[string]bool{"shop-9": true, "9000": false, "'midnight'": false} {
		if held := len(claim.Missing(text, h)) == 0; held != want {
			t.Errorf("%q: %v", text, held)
		}
	}
}

func TestAnyOfTheHoldingsSuffices(t *testing.T) {
	first, second := claim.NewHoldings(), claim.NewHoldings()
	first.Add("12 calls")
	second.Add("13 calls")
	if missing := claim.Missing("12 and 13 calls", first, second); len(missing) > 0 {
		t.Errorf("missing %s", show(missing))
	}
	if missing := claim.Missing("12 and 13 calls", first); show(missing) != "number 13" {
		t.Errorf("missing %s", show(missing))
	}
}

func TestEverySpellingOfANumberIsTheSame(t *testing.T) {
	for n := 4; n < 30_000_000; n = n*3 + 1 {
		h := claim.NewHoldings()
		h.AddQuantity(fmt.Sprint(n), "")
		for _, spelled := range []string{
			fmt.Sprint(n), fmt.Sprintf("%d.0", n), fmt.Sprintf("%d.00 units", n), fmt.Sprintf("%e", float64(n)), groups(n, ","), groups(n, "'"), groups(n, "\u202f"), groups(n, "_"),
		} {
			if missing := claim.Missing(spelled, h); len(missing) > 0 && spelled != fmt.Sprintf("%e", float64(n)) {
				t.Errorf("%d as %q: %s", n, spelled, show(missing))
			}
		}
		for _, other := range []string{fmt.Sprint(n + 1), fmt.Sprint(n * 10), fmt.Sprintf("-%d", n), fmt.Sprintf("%d.5", n), groups(n+1, ","), groups(n+1, "'")} {
			if len(claim.Missing(other, h)) == 0 {
				t.Errorf("%d is taken for %q", n, other)
			}
		}
	}
}

// groups writes a number in groups of thousands.
func groups(n int, sign string) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + sign + text[at:]
	}
	return text
}

func FuzzATextHoldsWhatItClaims(f *testing.F) {
	for _, seed := range []string{"12 of 1,234 at 10:15 on 30 November 2026", "\"a … b\" '12' 1e5 -3% 5-10ms", "１２ ½ db-7 p95 2026-11-30T10:15:00Z twelve hundred and five", "a''b\"c'", "1.2.3,4'567"} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		h := claim.NewHoldings()
		h.Add(other)
		h.Add(text)
		for _, missing := range claim.Missing(text, h) {
			if missing.Kind == claim.Number && !strings.ContainsAny(text, "%'\"") {
				t.Fatalf("%q does not hold %q of itself", text, missing.Text)
			}
		}
	})
}

// FuzzANumberThatStandsNowhereIsFound plants a number that no other text can hold.
func FuzzANumberThatStandsNowhereIsFound(f *testing.F) {
	f.Add("the latency is ", " s", "2.4 s")
	f.Add("at 10:15, ", "% of 'x'", "\"")
	f.Fuzz(func(t *testing.T, before, after, evidence string) {
		const planted = "7310946285"
		if strings.Contains(before+after+evidence, "73109") {
			return
		}
		h := claim.NewHoldings()
		h.Add(evidence)
		text := before + " " + planted + " " + after
		if len(claim.Missing(text, h)) == 0 {
			t.Fatalf("%q is taken for held by %q", text, evidence)
		}
	})
}

func show(claims []claim.Claim) string {
	var out []string
	for _, c := range claims {
		out = append(out, string(c.Kind)+" "+c.Text)
	}
	return strings.Join(out, ", ")
}

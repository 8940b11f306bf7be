package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// silent is a model that must not be asked.
func silent(t *testing.T) func(context.Context, string, string) (string, error) {
	return func(context.Context, string, string) (string, error) {
		t.Error("the model was asked")
		return "", errors.New("not to be asked")
	}
}

func TestAQuestionThatBeginsWithAGreetingOrThanksIsGeneral(t *testing.T) {
	for _, question := range []string{
		"hi", "Hello!", "  HEY there", "hi, why is checkout slow?", "Good morning, diagnose the outage", "Thanks a lot",
		"thank you, that helped", "👋 hi", "“Hello”", "Hallo, warum ist der Shop langsam?", "Guten  Morgen", "Grüß Gott",
		"Danke!", "Bonjour", "merci beaucoup", "¡Hola!", "你好，为什么服务这么慢？", "こんにちは", "hi\nthere", "Hi…",
	} {
		if got, err := (Router{}).Route(t.Context(), silent(t), question); got != General || err != nil {
			t.Errorf("%q: %q, %v", question, got, err)
		}
	}
}

func TestAQuestionThatAsksForTheCauseOfTroubleIsADiagnosis(t *testing.T) {
	for _, question := range []string{
		"diagnose the checkout", "Diagnose: why do orders fail?", "Please diagnose high-latency in shop", "Could you please troubleshoot it?",
		"Find the cause of the outage this morning", "find the root cause of the 503s", "Explain the error in the payment service",
		"Why is checkout slow?", "explain why the alert HighErrorRate fires", "What caused the slowness at noon?",
		"The shop is down. What happened?", "checkout has been slow since 10:00, what is the reason", "Investigate the timeouts",
		"history-service errors: what is the cause", "highlight reel is down, why?",
		"Diagnostiziere den Ausfall", "Warum ist der Shop so langsam?", "Erkläre mir die Fehlermeldung", "Bitte finde die Ursache der Störung",
		"Diagnostique la panne", "Pourquoi le paiement est-il lent ?", "Explique l'erreur du service",
		"为什么订单服务这么慢？", "请诊断支付服务", "分析一下告警的原因",
	} {
		if got, err := (Router{}).Route(t.Context(), silent(t), question); got != Diagnosis || err != nil {
			t.Errorf("%q: %q, %v", question, got, err)
		}
	}
}

func TestTheModelIsAskedOnceAboutWhatNoRuleKnows(t *testing.T) {
	for _, question := range []string{
		"High memory on node 7", "hi-res images", "Hello.service", "heyday", "What can you do?", "Explain what a pod is", "Why is the sky blue?",
		"The error budget", "How do I download it?", "shutdown procedure", "thankful people", "?", "…", "Which deployments ran today?",
	} {
		for said, want := range map[string]string{"GENERAL": General, "diagnosis": Diagnosis, " Diagnosis.\n": Diagnosis, "`GENERAL`": General} {
			asked := 0
			ask := func(_ context.Context, system, put string) (string, error) {
				asked++
				if system != "sort" || put != question {
					t.Errorf("asked %q under %q", put, system)
				}
				return said, nil
			}
			got, err := (Router{"sort"}).Route(t.Context(), ask, question)
			if got != want || err != nil || asked != 1 {
				t.Errorf("%q, the model says %q: %q, %v, asked %d times", question, said, got, err, asked)
			}
		}
	}
}

func TestAnAnswerThatIsNotOneOfTheTwoWordsIsUnroutable(t *testing.T) {
	for _, said := range []string{"", "maybe", "GENERAL or DIAGNOSIS", "It is GENERAL", "GENERALLY", `{"route":"GENERAL"}`} {
		ask := func(context.Context, string, string) (string, error) { return said, nil }
		if got, err := (Router{}).Route(t.Context(), ask, "What now?"); got != "" || !errors.Is(err, ErrUnroutable) {
			t.Errorf("%q: %q, %v", said, got, err)
		}
	}
}

func TestAModelThatFailsToRouteIsTheCause(t *testing.T) {
	broken := errors.New("no model")
	ask := func(context.Context, string, string) (string, error) { return "GENERAL", broken }
	if got, err := (Router{}).Route(t.Context(), ask, "What now?"); got != "" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzRoute shows that no question makes the rules fail, and that a greeting keeps deciding whatever follows it.
func FuzzRoute(f *testing.F) {
	f.Add("why is checkout slow?")
	f.Add("\xff\xfe hi")
	f.Add("请 please, please")
	f.Fuzz(func(t *testing.T, question string) {
		_ = ruled(question)
		if got := ruled("hello, " + question); got != General {
			t.Errorf("a greeting before %q: %q", question, got)
		}
		if strings.TrimSpace(question) == "" && ruled(question) != "" {
			t.Errorf("a rule decides about nothing: %q", question)
		}
	})
}

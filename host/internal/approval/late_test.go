package approval

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAnApprovalThatReachesTheStoreAfterItsExpiryExpiresSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = o.desk.Watch(ctx) }()
		late := o.desk.Open(run.Call{}, run.Tool{Name: "exec"}, nil, run.Decision{})
		<-time.After(time.Until(late.ExpiresAt) + 100*time.Millisecond) // the store is slow
		o.store.put(late)
		<-time.After(retryNap)
		synctest.Wait()
		if o.store.settled() != 1 {
			t.Errorf("the approval is still pending a second after it was stored")
		}
		stop()
		synctest.Wait()
	})
}

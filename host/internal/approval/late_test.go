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
		late, err := o.desk.Open(ctx, run.Permission, someQuestion)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Until(late.ExpiresAt) + 100*time.Millisecond) // the store is slow
		o.store.put(late)
		<-time.After(longestNap)
		synctest.Wait()
		if o.store.settled() != 1 {
			t.Errorf("the approval is still pending two seconds after it was stored")
		}
		stop()
		synctest.Wait()
	})
}

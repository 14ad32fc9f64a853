package loadcore

import (
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// A connection is lost while the commit of a full transaction is under way. What it left in doubt is published again and committed
// by itself, whether the producer has more to send or has sent all; then the run goes on.
func TestRepublishedTransactionIsCommitted(t *testing.T) {
	for _, limit := range []int64{4, 12} {
		for _, drive := range []Drive{DriveDedicated, DriveShared} {
			noLeaks(t)
			var commits atomic.Int32
			ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
				switch m.(type) {
				case *wire.TxSelect:
					c.method(channel, &wire.TxSelectOk{})
				case *wire.TxCommit:
					if commits.Add(1) == 1 {
						c.Close()
						return true
					}
					c.method(channel, &wire.TxCommitOk{})
				default:
					return false
				}
				return true
			}})
			plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: 4, Limit: limit}}, nil))
			plan.Republish, plan.Drive, plan.Time, plan.DrainTimeout = true, drive, 5*time.Second, 2*time.Second
			out, _ := runPlan(t, plan)
			if out.Sent != limit || out.Committed != limit || out.InDoubt != 4 || out.Republished != 4 || out.StopReason != StopSent {
				t.Errorf("limit %d, drive %s: sent %d, committed %d, in doubt %d, republished %d: %s", limit, drive, out.Sent, out.Committed, out.InDoubt, out.Republished, out.StopReason)
			}
		}
	}
}

//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// C103: with heartbeats of 10 s and a message a minute something goes out at least every 5 s for three minutes, as somebody sees it who
// stands before the broker.
func TestC103HeartbeatsWhenIdle(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	r := startRelay(t, "127.0.0.1:0", node.Addr())
	dir := filepath.Join(t.TempDir(), "capture")
	p := launch(t, "", strings.Fields("perf-test --capture "+dir+" -h "+r.through(node.URI(t))+" -b 10 -P 60 -x 1 -y 0 -z 180 -u q")...)
	select {
	case <-p.ended:
	case <-time.After(4 * time.Minute):
		t.Fatalf("not ended after 4 minutes: %s", p.said())
	}
	m, err := readManifest(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.said())
	}
	if code := p.ProcessState.ExitCode(); code != exitOK || m.Outcome.Sent != 3 || len(m.Outcome.Recoveries)+len(m.Outcome.Failures) > 0 {
		t.Errorf("exit %d, %+v\n%s", code, m.Outcome, p.said())
	}
	links := r.named("perf-test-producer-0")
	if len(links) != 1 {
		t.Fatalf("%d connections", len(links))
	}
	links[0].mu.Lock()
	defer links[0].mu.Unlock()
	t.Logf("%d heartbeats, at most %v between two frames", links[0].beats, links[0].longest)
	if links[0].longest > 5*time.Second+300*time.Millisecond || links[0].beats < 34 { // a little for the machine
		t.Errorf("%d heartbeats, %v between two frames", links[0].beats, links[0].longest)
	}
}

// C103: the wall clock jumps by an hour while a run goes on with short heartbeats. Setting the machine's clock would reach everybody else
// on it, so the program is built with a time package whose wall clock does so by itself, 3 s after its start. What is recorded and waited
// for goes by the monotonic clock, and nothing comes of it.
func TestC103WallClockJumps(t *testing.T) {
	t.Parallel()
	program := buildWithAJumpingClock(t)
	node := rabbitmqtest.Shared(t)
	dir := filepath.Join(t.TempDir(), "capture")
	cmd := exec.Command(program, strings.Fields("run --quiet --format json --uri "+node.URI(t)+" --queue q --rate 200 --confirm 100 --heartbeat 2 --time 10 --capture "+dir)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took := int64(time.Since(began))
	var r result.Result
	if err == nil {
		err = json.Unmarshal(stdout.Bytes(), &r)
	}
	m, readErr := readManifest(dir)
	if err != nil || readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, &stderr)
	}
	t.Logf("of %d ns: wall clock %d, record's clock %d ns on\n%s", took, m.ClockEnd.WallNS-m.ClockStart.WallNS, m.ClockEnd.ClockNS-m.ClockStart.ClockNS, told(&r))
	if ns := m.ClockEnd.WallNS - m.ClockStart.WallNS; ns < int64(time.Hour) {
		t.Fatalf("the wall clock did not jump: it went on by %d ns", ns)
	}
	want := result.Counts{Sent: 2000, Confirmed: 2000, Received: 2000, ReceivedUnique: 2000}
	if r.Verdict != result.Pass || r.Counts != want || r.Disruption != nil || len(m.Outcome.Recoveries)+len(m.Outcome.Failures) > 0 {
		t.Errorf("%s, %+v, %+v\n%s", r.Verdict, r.Counts, m.Outcome, told(&r))
	}
	for what, ns := range map[string]int64{"the run": m.Outcome.PublishStopNS - m.Outcome.BarrierNS, "the drain": m.Outcome.DrainEndNS - m.Outcome.PublishStopNS, "the record": m.ClockEnd.ClockNS - m.ClockStart.ClockNS} {
		if ns < 0 || ns > took {
			t.Errorf("%s lasted %d ns of %d", what, ns, took)
		}
	}
	_, report, _ := invoke(t, "analyze", dir, "--quiet")
	saysAll(t, report, "sent 200.0 messages per second")
}

// jump is put into time.Now, behind its reading of both clocks. startNano is what the monotonic one was when the program began.
const jump = `
	if mono-startNano > 3e9 {
		sec += 3600
	}
`

func buildWithAJumpingClock(t *testing.T) (program string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const reads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), reads) != 1 {
		t.Fatalf("%s does not read the clocks as this test expects: %q", original, reads)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(strings.Replace(string(text), reads, reads+jump, 1)), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "leveret")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return program
}

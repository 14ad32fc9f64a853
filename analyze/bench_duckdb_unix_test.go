//go:build unix

package analyze

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"leveret/analyze/result"
)

// besideMessages is how many messages each run of BenchmarkBesideDuckDB has, unless LEVERET_BENCH_MESSAGES says another number.
const besideMessages = 2_000_000

// BenchmarkBesideDuckDB analyzes generated runs with the built program, and has DuckDB do the same join, search for duplicates
// and quantiles over the exported Parquet, one after the other, from warm cache. rows/s are the rows of sends, confirms
// and deliveries by the time of the whole program (leveret) or of the statement alone (DuckDB), times-leveret is one time by the
// other. The figures have to agree. LEVERET_BENCH_DIR is where captures and Parquet are kept, to be used again by the next run.
func BenchmarkBesideDuckDB(b *testing.B) {
	messages := uint64(besideMessages)
	if text := os.Getenv("LEVERET_BENCH_MESSAGES"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < 1_000_000 {
			b.Fatalf("LEVERET_BENCH_MESSAGES=%s: a number of at least 1000000", text)
		}
		messages = n
	}
	dir := os.Getenv("LEVERET_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	program := filepath.Join(b.TempDir(), "leveret")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, "leveret/cmd/leveret").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	duck := installDuckDB(b)
	for _, l := range []load{
		{name: "4-producers", producers: 4, consumers: 4, messages: messages / 4},
		{name: "20000-producers", producers: 20_000, consumers: 10, messages: messages / 20_000},
		{name: "fan-out-4", producers: 4, consumers: 4, queues: 4, messages: messages / 16},
		{name: "published-first", producers: 4, consumers: 4, messages: messages / 4, publishFirst: true},
	} {
		besideDuckDB(b, l, beside{program, duck, filepath.Join(dir, fmt.Sprintf("%s-%d", l.name, messages))})
	}
}

// beside is what both need: program, DuckDB, and where the run is, or is put.
type beside struct{ program, duck, run string }

func besideDuckDB(b *testing.B, l load, x beside) {
	var ours *result.Result
	var took time.Duration
	b.Run(l.name+"/leveret", func(b *testing.B) {
		x.prepare(b, l)
		warm(b, x.run)
		for b.Loop() {
			ours, took = x.analyze(b)
		}
	})
	b.Run(l.name+"/duckdb", func(b *testing.B) {
		x.prepare(b, l)
		if ours == nil {
			ours, took = x.analyze(b)
		}
		warm(b, x.parquet())
		for b.Loop() {
			theirs := x.judge(b, ours)
			b.ReportMetric(theirs.Seconds()/took.Seconds(), "times-leveret")
		}
	})
	if os.Getenv("LEVERET_BENCH_DIR") == "" {
		os.RemoveAll(x.run)
		os.RemoveAll(x.parquet())
	}
}

func (x beside) parquet() string { return x.run + ".parquet" }

// prepare makes what is not there yet, under another name until it is whole.
func (x beside) prepare(b *testing.B, l load) {
	b.StopTimer()
	defer b.StartTimer()
	put := func(path string, by func(string)) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		part := path + ".part"
		if err := os.RemoveAll(part); err != nil {
			b.Fatal(err)
		}
		by(part)
		if err := os.Rename(part, path); err != nil {
			b.Fatal(err)
		}
	}
	put(x.run, func(part string) { l.generateIn(b, part) })
	put(x.parquet(), func(part string) { x.export(b, part) })
}

// warm reads the files of a directory, so that the system has them in memory.
func warm(b *testing.B, dir string) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err != nil {
			break
		}
		var f *os.File
		if f, err = os.Open(filepath.Join(dir, e.Name())); err == nil {
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}

// analyze runs leveret analyze as a process of its own. Its temporary file has no name: it says itself how large that was.
func (x beside) analyze(b *testing.B) (*result.Result, time.Duration) {
	begun := time.Now()
	cmd := exec.Command(x.program, "analyze", x.run, "--quiet", "--format", "json", "--tmp", b.TempDir())
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("leveret analyze: %v\n%s", err, out)
	}
	elapsed := time.Since(begun)
	var r result.Result
	if err := json.Unmarshal(out, &r); err != nil {
		b.Fatal(err)
	}
	if r.Verdict != result.Pass {
		b.Fatalf("%s: %+v", r.Verdict, r.Findings)
	}
	spilled := int64(0)
	for _, note := range r.Notes {
		if n, err := fmt.Sscanf(note, spilledNote, &spilled); err == nil && n == 1 {
			break
		}
	}
	report(b, r.Counts.Sent+r.Counts.Confirmed+r.Counts.Received, elapsed, cmd, spilled<<20)
	return &r, elapsed
}

// judge has DuckDB do the same, holds its figures against ours, and returns the time that the statement took.
func (x beside) judge(b *testing.B, ours *result.Result) time.Duration {
	tmp := b.TempDir()
	spilled := watchSize(tmp)
	cmd := exec.Command("node", "beside.js", x.parquet(), tmp)
	cmd.Dir, cmd.Stderr = x.duck, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("DuckDB: %v\n%s", err, out)
	}
	var theirs struct {
		Seconds                          float64
		Missing, Duplicates, Unconfirmed int64
		Confirm, Delivery                []string
	}
	if err := json.Unmarshal(out, &theirs); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if theirs.Missing != 0 || theirs.Duplicates != 0 || theirs.Unconfirmed != 0 {
		b.Fatalf("DuckDB: %+v", theirs)
	}
	if len(ours.Queues) == 1 { // several queues: a message's latencies are joined with its confirm several times
		for _, c := range []struct {
			d      *result.Distribution
			theirs []string
		}{{ours.Latency.Confirm.Service, theirs.Confirm}, {ours.Latency.Delivery.Service, theirs.Delivery}} {
			var want []string
			for _, v := range []*int64{c.d.P50NS, c.d.P99NS, c.d.P999NS, c.d.MaxNS} {
				want = append(want, strconv.FormatInt(*v, 10))
			}
			if !slices.Equal(want, c.theirs) {
				b.Fatalf("p50, p99, p99.9 and max are %v, DuckDB has %v", want, c.theirs)
			}
		}
	}
	took := time.Duration(theirs.Seconds * 1e9)
	report(b, ours.Counts.Sent+ours.Counts.Confirmed+ours.Counts.Received, took, cmd, spilled())
	return took
}

func report(b *testing.B, rows int64, elapsed time.Duration, cmd *exec.Cmd, spilled int64) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(elapsed.Seconds(), "s")
	b.ReportMetric(float64(rows)/elapsed.Seconds()/1e6, "Mrows/s")
	b.ReportMetric(float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024, "MiB-resident") // KiB on Linux
	b.ReportMetric(float64(spilled)/(1<<20), "MiB-tmp")
}

// watchSize looks at a directory's size until the function it returns is called, which tells the largest size seen.
func watchSize(dir string) func() int64 {
	stop, largest := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			size := int64(0)
			filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					if info, err := d.Info(); err == nil {
						size += info.Size()
					}
				}
				return nil
			})
			most = max(most, size)
			select {
			case <-stop:
				largest <- most
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(stop); return <-largest }
}

// export exports the three kinds of rows side by side.
func (x beside) export(b *testing.B, to string) {
	if err := os.Mkdir(to, 0o700); err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	begun := time.Now()
	for _, rows := range []string{"sends", "settlements", "deliveries"} {
		all.Go(func() {
			if out, err := exec.Command(x.program, "export", x.run, "--rows", rows, "--output", filepath.Join(to, rows+".parquet")).CombinedOutput(); err != nil {
				b.Errorf("export of %s: %v\n%s", rows, err, out)
			}
		})
	}
	all.Wait()
	b.Logf("exports took %v", time.Since(begun).Round(time.Millisecond))
	if b.Failed() {
		b.FailNow()
	}
}

// installDuckDB installs the Node package that the tests of the program use, and returns its directory.
func installDuckDB(b *testing.B) string {
	dir := b.TempDir()
	for name, from := range map[string]string{"package.json": "../cmd/leveret/testdata/duckdb", "package-lock.json": "../cmd/leveret/testdata/duckdb", "beside.js": "testdata/duckdb"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		b.Fatalf("npm ci: %v\n%s\nIt needs Node.js with npm, and npm's registry or its cache.", err, out)
	}
	return dir
}

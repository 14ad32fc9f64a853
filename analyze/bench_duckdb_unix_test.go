//go:build unix

package analyze

import (
	"encoding/json"
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
// and deliveries by the time of the whole program (leveret) or of the statement alone (DuckDB). The figures have to agree.
func BenchmarkBesideDuckDB(b *testing.B) {
	messages := uint64(besideMessages)
	if text := os.Getenv("LEVERET_BENCH_MESSAGES"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < 1_000_000 {
			b.Fatalf("LEVERET_BENCH_MESSAGES=%s: a number of at least 1000000", text)
		}
		messages = n
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
		besideDuckDB(b, l, program, duck)
	}
}

func besideDuckDB(b *testing.B, l load, program, duck string) {
	var dir, parquet string
	var ours *result.Result
	prepare := func(b *testing.B) { // for whichever of the two is run first
		if dir != "" {
			return
		}
		b.StopTimer()
		at := filepath.Join(filepath.Dir(program), l.name)
		dir, parquet = l.generateIn(b, at), at+".parquet"
		exportRows(b, program, dir, parquet)
		b.StartTimer()
	}
	b.Run(l.name+"/leveret", func(b *testing.B) {
		prepare(b)
		for b.Loop() {
			ours = analyzeBeside(b, program, dir)
		}
	})
	b.Run(l.name+"/duckdb", func(b *testing.B) {
		prepare(b)
		if ours == nil {
			ours = analyzeBeside(b, program, dir)
		}
		for b.Loop() {
			judgeBeside(b, duck, parquet, ours)
		}
	})
	os.RemoveAll(dir)
	os.RemoveAll(parquet)
}

// analyzeBeside runs leveret analyze as a process of its own.
func analyzeBeside(b *testing.B, program, dir string) *result.Result {
	tmp := b.TempDir()
	spilled := watchSize(tmp)
	begun := time.Now()
	cmd := exec.Command(program, "analyze", dir, "--quiet", "--format", "json", "--tmp", tmp)
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
	report(b, r.Counts.Sent+r.Counts.Confirmed+r.Counts.Received, elapsed, cmd, spilled())
	return &r
}

// judgeBeside has DuckDB do the same, and holds its figures against ours.
func judgeBeside(b *testing.B, duck, parquet string, ours *result.Result) {
	tmp := b.TempDir()
	spilled := watchSize(tmp)
	cmd := exec.Command("node", "beside.js", parquet, tmp)
	cmd.Dir, cmd.Stderr = duck, os.Stderr
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
	report(b, ours.Counts.Sent+ours.Counts.Confirmed+ours.Counts.Received, time.Duration(theirs.Seconds*1e9), cmd, spilled())
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

// exportRows exports the three kinds of rows side by side.
func exportRows(b *testing.B, program, dir, parquet string) {
	if err := os.Mkdir(parquet, 0o700); err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	begun := time.Now()
	for _, rows := range []string{"sends", "settlements", "deliveries"} {
		all.Go(func() {
			if out, err := exec.Command(program, "export", dir, "--rows", rows, "--output", filepath.Join(parquet, rows+".parquet")).CombinedOutput(); err != nil {
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

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStartUp is the time from the start of the program, built as `make build` does it, to its end, with nothing to do.
func BenchmarkStartUp(b *testing.B) {
	program := filepath.Join(b.TempDir(), "leveret")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	if output, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	b.Run("help", func(b *testing.B) {
		var cpu int64
		for b.Loop() {
			cmd := exec.Command(program, "--help")
			if output, err := cmd.Output(); err != nil || len(output) == 0 {
				b.Fatal(err)
			}
			cpu += int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ms")
		b.ReportMetric(float64(cpu)/float64(b.N)/1e6, "cpu-ms")
	})
}

package main

import (
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"leveret/capture/manifest"
)

// hostFacts describes this machine as far as the system tells.
func hostFacts() manifest.Host {
	name, _ := os.Hostname()
	return manifest.Host{
		Name: name, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		CPUModel: procValue("/proc/cpuinfo", "model name"), MemoryBytes: memoryBytes(),
	}
}

// memoryBytes reads MemTotal, which Linux gives in KiB; 0 elsewhere.
func memoryBytes() int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(procValue("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// procValue returns the first value of a key in one of Linux's "key: value" files, "" where there is none.
func procValue(file, key string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// sameHost tells whether the broker's host is this machine; nil if its name or our addresses cannot be had.
func sameHost(host string) *bool {
	theirs, err := net.LookupIP(host)
	if err != nil {
		return nil
	}
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	same := false
	for _, ip := range theirs {
		same = same || ip.IsLoopback()
		for _, a := range ours {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				same = true
			}
		}
	}
	return &same
}

func toolFacts() manifest.Tool {
	return manifest.Tool{Name: "leveret", Version: toolVersion(), Go: runtime.Version()}
}

// toolVersion is the version set by the build, else the one that the Go toolchain took from the repository.
func toolVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development version"
}

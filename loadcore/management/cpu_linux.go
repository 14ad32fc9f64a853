package management

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/capture/event"
)

// ticks of the times in /proc a second (USER_HZ): 100 on every Linux, whatever the kernel's own.
const ticks = 100

// sameStart is how far apart the start of a node and of its process may be: the node counts from when Erlang runs.
const sameStart = 5 * time.Second

// isErlang tells whether Erlang's emulator runs in a process: by itself, or started by a linker, which has it among its first words.
func isErlang(pid string) bool {
	command, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return false
	}
	words := bytes.SplitN(command, []byte{0}, 8)
	return slices.ContainsFunc(words[:len(words)-1], func(w []byte) bool { return strings.HasPrefix(filepath.Base(string(w)), "beam") })
}

// processCPU is the user plus system time of a node's process on this host; event.None where there is none. The number may be one
// of another host, or of a container: it has to be Erlang that runs under it, for as long as the node says.
func processCPU(pid string, uptimeMS int64) int64 {
	if _, err := strconv.ParseUint(pid, 10, 31); err != nil || uptimeMS == event.None {
		return event.None
	}
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return event.None
	}
	up, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return event.None
	}
	// The name in parentheses is the second field. utime, stime and starttime are the 14th, 15th and 22nd (proc(5)).
	_, behind, _ := bytes.Cut(stat, []byte("("))
	end := bytes.LastIndexByte(behind, ')')
	if end < 0 || !isErlang(pid) {
		return event.None
	}
	fields, booted := bytes.Fields(behind[end+1:]), bytes.Fields(up)
	if len(fields) < 20 || len(booted) == 0 {
		return event.None
	}
	user, errUser := strconv.ParseInt(string(fields[11]), 10, 64)
	system, errSystem := strconv.ParseInt(string(fields[12]), 10, 64)
	start, errStart := strconv.ParseInt(string(fields[19]), 10, 64)
	now, errNow := strconv.ParseFloat(string(booted[0]), 64)
	if errUser != nil || errSystem != nil || errStart != nil || errNow != nil {
		return event.None
	}
	age := time.Duration(now*float64(time.Second)) - time.Duration(start)*(time.Second/ticks)
	if apart := age - time.Duration(uptimeMS)*time.Millisecond; apart > sameStart || apart < -sameStart {
		return event.None
	}
	return (user + system) * int64(time.Second) / ticks
}

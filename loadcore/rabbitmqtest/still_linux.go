package rabbitmqtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// standsStill reports whether all threads of a process are stopped (proc(5): T is the third field of stat, behind the name in
// parentheses).
func standsStill(pid int) bool {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, file := range threads {
		stat, err := os.ReadFile(file)
		if err != nil {
			return false // it has just ended: look again
		}
		if end := bytes.LastIndexByte(stat, ')'); end < 0 || !bytes.HasPrefix(stat[end:], []byte(") T")) {
			return false
		}
	}
	return true
}

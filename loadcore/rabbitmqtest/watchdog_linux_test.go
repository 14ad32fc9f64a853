package rabbitmqtest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// childVariable tells the test binary, run again as a child, how it is to die.
const childVariable = "LEVERET_TEST_CHILD"

// TestChild is the body of the child processes below; in the test run itself it has nothing to do.
func TestChild(t *testing.T) {
	how := os.Getenv(childVariable)
	if how == "" {
		return
	}
	node := Shared(t)
	fmt.Println("child:", node.rig.dir)
	switch how {
	case "panic":
		// Where no deferred call runs and no cleanup is reached; a test that times out dies like this as well.
		go panic("on purpose")
		select {}
	case "kill":
		time.Sleep(time.Hour) // until killed
	}
}

// child starts the test binary as a child with a folder of its own for temporary files, so that what it makes is found.
func child(t *testing.T, how string) (cmd *exec.Cmd, output *bufio.Reader, tmp string) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "lv") // short: the path of a socket in it is limited to some hundred characters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	cmd = exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"="+how, "TMPDIR="+tmp, URIVariable+"=")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(pipe), tmp
}

// awaitNode reads the child's output until its node runs.
func awaitNode(t *testing.T, output *bufio.Reader, tmp string) {
	t.Helper()
	var all strings.Builder
	for {
		line, err := output.ReadString('\n')
		all.WriteString(line)
		if strings.HasPrefix(line, "child: "+tmp) {
			break
		}
		if err != nil {
			t.Fatalf("the child started no node: %v\n%s", err, &all)
		}
	}
}

// processes returns the living processes whose environment has the text: everything that was started for a rig has the
// rig's folder there, also what made itself a daemon.
func processes(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		// A process that ends meanwhile, or is another user's, has no environment to read.
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(text)) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, filepath.Dir(file)+" "+string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return found
}

// mustVanish waits until nothing of the child's nodes is left.
func mustVanish(t *testing.T, tmp string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left = processes(t, "HOME="+tmp)
		folders, err := filepath.Glob(filepath.Join(tmp, "leveret-rabbitmq-*"))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, folders...)
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
}

func TestNothingIsLeftBehindBy(t *testing.T) {
	for _, how := range []string{"panic", "kill"} {
		t.Run(how, func(t *testing.T) {
			cmd, output, tmp := child(t, how)
			awaitNode(t, output, tmp)
			if how == "kill" {
				// The look that finds nothing later must find something now.
				if got := len(processes(t, "HOME="+tmp)); got < 2 {
					t.Errorf("%d processes of the node found, want epmd and the node at least", got)
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Wait() // however it ended
			mustVanish(t, tmp)
		})
	}
}

func TestNothingIsLeftBehindByTheRegularEnd(t *testing.T) {
	r, err := newRig(t.Context(), 2, Find)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(processes(t, "HOME="+r.dir)); got != 1 {
		t.Errorf("%d processes, want epmd", got)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	// No waiting here: the end waits for the watchdog, and the watchdog until all is gone.
	if left := processes(t, "HOME="+r.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
		t.Errorf("the folder %s is still there: %v", r.dir, err)
	}
}

// A node may be starting when its owner dies: scripts, epmd and Erlang follow each other in the first second.
func TestNothingIsLeftBehindWhenKilledWhileStarting(t *testing.T) {
	for _, wait := range []time.Duration{5, 30, 100, 300, 700, 1500} {
		cmd, _, tmp := child(t, "kill")
		time.Sleep(wait * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		mustVanish(t, tmp)
	}
}

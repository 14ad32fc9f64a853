package rabbitmqtest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// tools numbers the commands that run, for their names in the rig.
var tools atomic.Int64

// tool runs one of RabbitMQ's commands against the node and returns what it printed. Like everything in the rig it ends
// with it.
func (n *Node) tool(ctx context.Context, name string, args ...string) (string, error) {
	var output bytes.Buffer
	command := append([]string{filepath.Join(n.rig.install.Sbin, name)}, args...)
	p, err := n.rig.launch("tool-"+strconv.FormatInt(tools.Add(1), 10), n.env(), &output, command...)
	if err != nil {
		return "", err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		err := killGroup(p.cmd.Process)
		<-p.done
		return "", fmt.Errorf("%s %s: %w (killed: %v)", name, strings.Join(args, " "), ctx.Err(), err)
	}
	if !p.cmd.ProcessState.Success() {
		return "", fmt.Errorf("%s %s: %s\n%s", name, strings.Join(args, " "), p.cmd.ProcessState, output.Bytes())
	}
	return output.String(), nil
}

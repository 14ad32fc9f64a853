package rabbitmqtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Ports are taken in blocks from a range below the one that systems hand out by themselves (from 32768 on Linux), so that
// no outgoing connection of the machine takes one between our look and RabbitMQ's. RabbitMQ's command line tools listen
// 10000 above the distribution port, which is below that range too, and above ours.
const (
	firstPort = 10240
	endPort   = 20000
	blockSize = 8
)

// block is a run of ports that no other process of this package uses. The first one is only the lock: this process
// listens on it for as long as it holds the block, and the system gives it back however the process ends.
type block struct {
	base int
	lock net.Listener
}

// takeBlock returns a block whose ports were all free at the time of looking.
func takeBlock() (*block, error) {
	count := (endPort - firstPort) / blockSize
	start := os.Getpid() % count // other processes look elsewhere first
	for i := range count {
		base := firstPort + (start+i)%count*blockSize
		lock, err := listen(base)
		if err != nil {
			continue
		}
		if free(base+1, base+blockSize) {
			return &block{base: base, lock: lock}, nil
		}
		if err := lock.Close(); err != nil {
			return nil, fmt.Errorf("giving back port %d: %w", base, err)
		}
	}
	return nil, errors.New("no run of " + strconv.Itoa(blockSize) + " free ports between " + strconv.Itoa(firstPort) +
		" and " + strconv.Itoa(endPort) + " on 127.0.0.1: other nodes must end first")
}

// port returns the i-th usable port of the block, i from 1 to blockSize-1.
func (b *block) port(i int) int { return b.base + i }

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// free reports whether all ports from first to before end can be listened on.
func free(first, end int) bool {
	for port := first; port < end; port++ {
		listener, err := listen(port)
		if err != nil {
			return false
		}
		if listener.Close() != nil {
			return false
		}
	}
	return true
}

package layout

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"leveret/capture/manifest"
)

// What --stream-queue sets where nothing else is given, as in PerfTest.
const (
	streamPrefetch    = 200
	streamMaxLength   = 20e9
	streamSegmentSize = 500e6
	streamMostSegment = 3e9
)

// makeQueues makes one queue a name, or, without names, one a consumer: named by the broker, or by us where the connection
// of its consumer declares it, so that routes are known before.
func (b *builder) makeQueues() error {
	q, err := b.queue()
	if err != nil {
		return err
	}
	for _, name := range b.names {
		q.Name = name
		b.Topology.Queues = append(b.Topology.Queues, q)
	}
	if len(b.names) > 0 || b.Topology.Predeclared {
		return nil
	}
	q.ServerNamed = !q.Exclusive
	// Runs that start together have one ID.
	own := b.o.ID + "-queue-%d-" + newUUID()[:8]
	for i := range b.o.Consumers * b.o.ConsumerChannelCount {
		if q.Exclusive {
			q.Name = fmt.Sprintf(own, i)
		}
		b.Topology.Queues = append(b.Topology.Queues, q)
	}
	return nil
}

// queue is what all queues of the run have in common.
func (b *builder) queue() (q manifest.Queue, err error) {
	o := b.o
	q = manifest.Queue{Durable: persistent(o), AutoDelete: o.AutoDelete, Exclusive: o.Exclusive, Declare: true}
	if q.Arguments, err = b.queueArguments(); err != nil {
		return q, err
	}
	q.Type = "classic"
	if kind := textArgument(q.Arguments, "x-queue-type"); kind != "" {
		q.Type = kind
	}
	if q.Type != "quorum" && q.Type != "stream" {
		return q, nil
	}
	if len(b.names) == 0 {
		return q, fmt.Errorf("a %s queue needs a name: give --queue", q.Type)
	}
	if q.Exclusive {
		return q, fmt.Errorf("--exclusive: a %s queue cannot be exclusive; leave --exclusive out, or take a classic queue", q.Type)
	}
	if o.AutoDelete && b.given("auto-delete") {
		b.note("--auto-delete=true has no effect: a %s queue is never deleted automatically", q.Type)
	}
	// A replicated queue is durable and outlives its consumers; a broker refuses it otherwise.
	q.Durable, q.AutoDelete = true, false
	return q, nil
}

// queueArguments are those given, and those that other options stand for.
func (b *builder) queueArguments() ([]manifest.Arg, error) {
	o := b.o
	args := b.lastOfEach("--queue-args", o.QueueArgs)
	kind := textArgument(args, "x-queue-type")
	switch wanted, option := b.wantedType(); {
	case o.QuorumQueue && o.StreamQueue:
		return nil, errors.New("--quorum-queue and --stream-queue contradict each other: give one of them")
	case wanted == "":
	case kind != "" && kind != wanted:
		return nil, fmt.Errorf("%s and --queue-args x-queue-type=%s contradict each other: give one of them", option, kind)
	default:
		kind = wanted
		args = setArgument(args, "x-queue-type", kind)
	}
	if o.StreamQueue {
		args = defaultArgument(args, "x-max-length-bytes", int64(streamMaxLength))
		args = defaultArgument(args, "x-stream-max-segment-size-bytes", int64(streamSegmentSize))
	}
	switch {
	case o.MaxLengthBytes > 0:
		args = setArgument(args, "x-max-length-bytes", o.MaxLengthBytes)
	case o.MaxLengthBytes == 0:
		args = slices.DeleteFunc(args, func(a manifest.Arg) bool { return a.Key == "x-max-length-bytes" })
	}
	if o.StreamMaxSegmentSizeBytes > 0 {
		args = setArgument(args, "x-stream-max-segment-size-bytes", o.StreamMaxSegmentSizeBytes)
	}
	if o.MaxAge > 0 {
		args = setArgument(args, "x-max-age", fmt.Sprintf("%ds", o.MaxAge/time.Second))
	}
	if o.LeaderLocator != "" {
		args = setArgument(args, "x-queue-leader-locator", o.LeaderLocator)
	}
	return args, b.checkStreamArguments(kind, args)
}

func (b *builder) wantedType() (kind, option string) {
	switch {
	case b.o.QuorumQueue:
		return "quorum", "--quorum-queue"
	case b.o.StreamQueue:
		return "stream", "--stream-queue"
	}
	return "", ""
}

// checkStreamArguments refuses what only a stream has, and what no stream can have.
func (b *builder) checkStreamArguments(kind string, args []manifest.Arg) error {
	o := b.o
	if kind != "stream" && !b.Topology.Predeclared {
		for _, only := range []struct {
			option string
			given  bool
		}{
			{"--max-age", o.MaxAge > 0}, {"--stream-max-segment-size-bytes", o.StreamMaxSegmentSizeBytes > 0},
			{"--stream-consumer-offset", o.StreamConsumerOffset != "" && o.Consumers > 0},
		} {
			if only.given {
				return fmt.Errorf("%s is for streams, and the queues are %s: give --stream-queue, or leave it out", only.option, kindOrClassic(kind))
			}
		}
	}
	if o.MaxAge > 0 && o.MaxAge < time.Second {
		return fmt.Errorf("--max-age=%v: a broker counts whole seconds, want 1 s or more", o.MaxAge)
	}
	if o.StreamMaxSegmentSizeBytes > streamMostSegment {
		return fmt.Errorf("--stream-max-segment-size-bytes=%d: a segment has at most %d bytes", o.StreamMaxSegmentSizeBytes, int64(streamMostSegment))
	}
	length, segment := intArgument(args, "x-max-length-bytes"), intArgument(args, "x-stream-max-segment-size-bytes")
	if kind == "stream" && length > 0 && segment > 0 && length <= segment {
		return fmt.Errorf("--max-length-bytes=%d: a stream is shortened by whole segments, and --stream-max-segment-size-bytes is %d: want more than one segment", length, segment)
	}
	return nil
}

func kindOrClassic(kind string) string {
	if kind == "" {
		return "classic"
	}
	return kind
}

// lastOfEach keeps the last value of each argument, as PerfTest does; a broker has no place for two.
func (b *builder) lastOfEach(option string, given []manifest.Arg) []manifest.Arg {
	var args []manifest.Arg
	for _, a := range given {
		if argument(args, a.Key) != nil {
			b.note("%s has %s more than once: the last value counts", option, a.Key)
		}
		args = setArgument(args, a.Key, a.Value)
	}
	return args
}

func argument(args []manifest.Arg, key string) any {
	for _, a := range args {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

func textArgument(args []manifest.Arg, key string) string {
	if v := argument(args, key); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

func intArgument(args []manifest.Arg, key string) int64 {
	n, _ := argument(args, key).(int64)
	return n
}

func setArgument(args []manifest.Arg, key string, value any) []manifest.Arg {
	args = slices.DeleteFunc(args, func(a manifest.Arg) bool { return a.Key == key })
	return append(args, manifest.Arg{Key: key, Value: value})
}

func defaultArgument(args []manifest.Arg, key string, value any) []manifest.Arg {
	if argument(args, key) != nil {
		return args
	}
	return append(args, manifest.Arg{Key: key, Value: value})
}

// semver is how PerfTest finds the version in what a broker says of itself.
var semver = regexp.MustCompile(`(\d+)\.(\d+)\.\d+`)

// SettleDurability makes transient queues durable where the broker takes none that are not exclusive: RabbitMQ from 4.3.0
// on. A version that cannot be read is taken for a new one, as PerfTest does. It returns how many it has changed.
func SettleDurability(t *manifest.Topology, version string) int {
	if m := semver.FindStringSubmatch(version); m != nil {
		major, errMajor := strconv.Atoi(m[1])
		minor, errMinor := strconv.Atoi(m[2])
		if errMajor == nil && errMinor == nil && (major < 4 || major == 4 && minor < 3) {
			return 0
		}
	}
	changed := 0
	for i := range t.Queues {
		if q := &t.Queues[i]; q.Declare && !q.Exclusive && !q.Durable {
			q.Durable = true
			changed++
		}
	}
	return changed
}

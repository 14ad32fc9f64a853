package calibrate

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"leveret/analyze/result"
)

// Text writes the form that people read, at most 100 columns wide, in ASCII.
func Text(w io.Writer, c *Calibration) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	p := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	h := &c.Host
	p("Calibration of %s, %s/%s, %s, %s, at %s", h.Name, h.OS, h.Arch, result.Plural(int64(h.CPUs), "CPU"), orUnknown(h.CPUModel),
		time.Unix(0, c.AtNS).UTC().Format("2006-01-02 15:04:05 UTC"))
	quick := ""
	if c.Quick {
		quick = "; quick, so coarser"
	}
	p("%s %s, %s; took %.1f s%s", c.Tool.Name, c.Tool.Version, c.Tool.Go, float64(c.TookNS)/1e9, quick)

	p("\nClock\tread %s ns, resolution %d ns", nanoseconds(c.Clock.ReadNS), c.Clock.ResolutionNS)
	p("Loopback\t%s bytes/s in writes of %s, a plain copy of the same %s bytes/s (%.1f times as fast)", result.Group(int64(c.Loopback.SocketBytesPerS)),
		result.Group(int64(c.Loopback.WriteBytes)), result.Group(int64(c.Loopback.CopyBytesPerS)), c.Loopback.CopyBytesPerS/c.Loopback.SocketBytesPerS)

	p("\nCodec (ns a message)\tencode\tparse\tstamp\tcheck")
	for _, v := range c.Codec {
		p("  %s bytes\t%s\t%s\t%s\t%s", result.Group(int64(v.SizeBytes)), nanoseconds(v.EncodeNS), nanoseconds(v.ParseNS), nanoseconds(v.StampNS), nanoseconds(v.CheckNS))
	}
	p("\nRecording (a row)\tCPU ns\telapsed ns\tbytes")
	for _, v := range c.Recording {
		p("  %s\t%s\t%s\t%.1f", v.Compression, nanoseconds(v.CPUNSPerRow), nanoseconds(v.NSPerRow), v.BytesPerRow)
	}
	p("\nCeilings (12 bytes, recorded, embedded broker in its own process)\tmsg/s\tCPU ns/msg")
	for _, v := range c.Ceilings {
		p("  %s\t%s\t%s", v.Name, result.Group(int64(v.MsgsPerS)), nanoseconds(v.CPUNSPerMsg))
	}
	p("\nPinning (--pin; 12 bytes, not recorded)\tmsg/s, window 1000\tCPU ns/msg\tround trip, window 1 (us)")
	for _, v := range c.Pinning {
		if v.NotPossible != "" {
			p("  %s\tnot possible here: %s", v.Pin, v.NotPossible)
			continue
		}
		p("  %s\t%s\t%s\t%s", v.Pin, result.Group(int64(v.MsgsPerS)), nanoseconds(v.CPUNSPerMsg), micros(int64(v.RoundTripNS)))
	}
	p("\nPacing: sent minus due (us)\tp50\tp99\tmax\tmessages")
	for _, v := range c.Pacing {
		p("  %s msg/s\t%s\t%s\t%s\t%s", result.Group(v.RateMsgsPerS), micros(v.P50NS), micros(v.P99NS), micros(v.MaxNS), result.Group(int64(v.Count)))
	}
	p("\nLatency: measured minus the broker's known delay (us)\tp50\tp99\tmax\tmessages")
	for _, v := range c.Latency {
		law := v.Law
		if law == "" {
			law = "no delay"
		}
		p("  %s, %s msg/s\t%s\t%s\t%s\t%s", law, result.Group(v.RateMsgsPerS), micros(v.P50NS), micros(v.P99NS), micros(v.MaxNS), result.Group(int64(v.Count)))
	}
	p("The error holds the way to the broker and back, and how late the broker's own timer was.")
	return t.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return "CPU model unknown"
	}
	return s
}

func nanoseconds(v float64) string {
	if v >= 100 {
		return result.Group(int64(v + 0.5))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func micros(ns int64) string { return strconv.FormatFloat(float64(ns)/1e3, 'f', 1, 64) }

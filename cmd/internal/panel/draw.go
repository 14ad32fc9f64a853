package panel

import (
	"os"
	"os/signal"
	"time"

	"leveret/capture/manifest"
)

// frame is how often the panel is drawn anew. It has nothing to do with how often the run is measured.
const frame = 250 * time.Millisecond

// grace is how long the end of a run waits for a terminal that takes nothing (Ctrl-S).
const grace = time.Second

// drawing shows a run on a terminal while it goes on.
type drawing struct {
	out          *Console
	watch        *watch
	ascii, color bool
	done         chan *manifest.Outcome
	ended        chan struct{}
	restore      func()
}

// start shows the panel until the function that it returns is called with the outcome, nil if there is none; the last
// state stays on the screen. nil: the terminal is none for a panel.
func start(out *Console, w *watch, ascii, color bool) func(*manifest.Outcome) {
	restore, ok := prepare(out.file)
	if !ok {
		return nil
	}
	p := &drawing{
		out: out, watch: w, ascii: ascii, color: color, restore: restore,
		done: make(chan *manifest.Outcome, 1), ended: make(chan struct{}),
	}
	go p.run()
	return func(o *manifest.Outcome) {
		p.done <- o
		select {
		case <-p.ended:
		case <-time.After(grace):
		}
	}
}

func (p *drawing) run() {
	defer close(p.ended)
	defer p.restore()
	continued := make(chan os.Signal, 1)
	notifyContinued(continued)
	defer signal.Stop(continued)
	frames := time.NewTicker(frame)
	defer frames.Stop()
	measures := time.NewTicker(p.watch.Interval)
	defer measures.Stop()
	last := time.Now()
	for {
		select {
		case o := <-p.done:
			p.watch.finish(o, time.Now())
			p.draw(time.Now())
			p.out.leave()
			return
		case <-continued:
			p.out.leave()
		// What a ticker sends is when it should have, so that the clock is read anew.
		case <-measures.C:
			p.watch.measure(time.Now())
		case <-frames.C:
			if time.Since(last) > 2*frame {
				// The process may have been stopped: then the signal that it goes on is about to come, and until it does nothing is
				// known about the screen.
				select {
				case <-continued:
					p.out.leave()
				case <-time.After(frame):
				}
			}
			last = time.Now()
			p.draw(last)
		}
	}
}

func (p *drawing) draw(now time.Time) {
	p.watch.frame()
	if !inForeground(p.out.file) {
		p.out.leave()
		return
	}
	// One column and one row stay free: a full line would have some terminals go on to the next one, and the cursor waits
	// below the panel.
	p.watch.said.say(p.out, now, p.watch.plan.Progress.Outage()) // above the panel
	width, height := terminalSize(p.out.file)
	width, height = width-1, height-1
	lines := p.watch.view(now).lines(width, height, p.ascii)
	texts, columns := make([]string, len(lines)), make([]int, len(lines))
	for i := range lines {
		texts[i], columns[i] = lines[i].paint(width, p.ascii, p.color)
	}
	p.out.show(texts, columns)
}

package loadcore

// Outage is a time in which at least one connection was lost and was being opened again.
type Outage struct {
	// Lost counts the losses of connections in the whole run, Missing those that are not back yet.
	Lost    int64
	Missing int
	// Text is why the first connection of the last outage was lost, SinceNS when, BackNS when all were back, on the record's clock; 0:
	// they are not, or none was lost.
	Text    string
	SinceNS int64
	BackNS  int64
	// GivenUp: a connection is not opened any more, so that not all come back.
	GivenUp bool
}

// Outage returns the last one.
func (p *Progress) Outage() Outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outage
}

func (p *Progress) connectionLost(at int64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := &p.outage
	if o.Missing == 0 {
		o.Text, o.SinceNS, o.BackNS = text, at, 0
	}
	o.Lost++
	o.Missing++
}

func (p *Progress) connectionBack(at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.Missing--; p.outage.Missing == 0 {
		p.outage.BackNS = at
	}
}

func (p *Progress) connectionGivenUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage.GivenUp = true
}

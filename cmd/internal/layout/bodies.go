package layout

import (
	"leveret/cmd/internal/options"
	"leveret/loadcore"
)

// GiveBodies makes the bodies that all producers send in turn, where they are given, from files or as random JSON. Size of
// a producer is then that of the largest.
func GiveBodies(o *options.Run, l *Layout, p *loadcore.Plan) (err error) {
	switch {
	case len(p.Producers) == 0 || !p.Producers[0].PooledBodies:
		return nil
	case len(o.Bodies) > 0:
		p.Bodies, l.Bodies, err = loadcore.ReadBodies(o.Bodies)
	default:
		p.Bodies, l.Bodies, err = loadcore.JSONBodies(o.BodyCount, o.Size, o.BodyFieldCount, o.Seed)
	}
	if err != nil {
		return err
	}
	largest := 0
	for _, b := range p.Bodies {
		largest = max(largest, len(b))
	}
	for i := range p.Producers {
		p.Producers[i].Size = largest
	}
	return nil
}

package loadcore

import (
	"errors"
	"fmt"
	"math"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// checkBodies refuses bodies that have no room for what the stamp writes into them.
func (p *Plan) checkBodies(s *manifest.Producer) error {
	least := 0 // bytes of a body
	switch s.Stamp {
	case "", manifest.StampBody:
		if s.PooledBodies {
			return errors.New("--stamp=body with given bodies (--body, --json-body): they stay as they are; want --stamp=header or perftest")
		}
		least = StampSize
	case manifest.StampHeader:
	case manifest.StampPerfTest:
		least = perfTestSize
	default:
		return fmt.Errorf("--stamp=%s: want body, header or perftest", s.Stamp)
	}
	if s.PooledBodies {
		return p.checkPool(s)
	}
	if len(s.Sizes) == 0 {
		return checkSize("--size", s.Size, least)
	}
	if len(s.Sizes) > maxStages {
		return fmt.Errorf("--variable-size: %d sizes: want at most %d", len(s.Sizes), maxStages)
	}
	for i, stage := range s.Sizes {
		if err := checkSize("--variable-size", stage.Bytes, least); err != nil {
			return err
		}
		if stage.ForNS <= 0 || stage.ForNS > maxStage {
			return fmt.Errorf("--variable-size: size %d lasts %d ns: want more than 0, and at most %d", i+1, stage.ForNS, int64(maxStage))
		}
	}
	return nil
}

func checkSize(option string, size, least int) error {
	switch {
	case size < 0:
		return fmt.Errorf("%s=%d: want 0 bytes or more", option, size)
	case size < least:
		return fmt.Errorf("%s=%d: want at least %d bytes, which the stamp takes (with --stamp=header it takes none)", option, size, least)
	case size > math.MaxInt32:
		return fmt.Errorf("%s=%d: want at most %d bytes", option, size, math.MaxInt32)
	}
	return nil
}

func (p *Plan) checkPool(s *manifest.Producer) error {
	switch {
	case len(s.Sizes) > 0:
		return errors.New("--variable-size with given bodies (--body, --json-body): they have sizes of their own; give one of them")
	case len(p.Bodies) == 0:
		return errors.New("given bodies (--body, --json-body): there is none")
	}
	for i, b := range p.Bodies {
		if len(b) > math.MaxInt32 {
			return fmt.Errorf("body %d has %d bytes: want at most %d", i+1, len(b), math.MaxInt32)
		}
	}
	return nil
}

// checkRoutes is for a producer whose first route exists.
func (p *Plan) checkRoutes(s *manifest.Producer) error {
	all := len(p.Topology.Routes)
	if s.Routes < 0 || s.Routes > all-s.Route {
		return fmt.Errorf("%d routes from route %d on: there are %d in all", s.Routes, s.Route, all)
	}
	for i := range max(s.Routes, 1) {
		route := &p.Topology.Routes[s.Route+i]
		if err := errors.Join(wire.CheckShortString("--exchange", route.Exchange), wire.CheckShortString("--routing-key", route.RoutingKey)); err != nil {
			return err
		}
	}
	return nil
}

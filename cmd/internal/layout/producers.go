package layout

import (
	"reflect"
	"slices"

	"leveret/capture/manifest"
)

// makeProducers lays the producers over their connections, connection by connection.
func (b *builder) makeProducers() error {
	o := b.o
	all := b.producer()
	b.Producers = make([]manifest.Producer, o.Producers*o.ProducerChannelCount)
	for i := range b.Producers {
		p := all
		p.Connection = i / o.ProducerChannelCount
		if all.Routes == 0 {
			p.Route = i % len(b.Topology.Routes)
		}
		o.Schedule.Apply(&p)
		b.Producers[i] = p
	}
	return nil
}

// producer is what all producers of the run have in common.
func (b *builder) producer() manifest.Producer {
	o := b.o
	p := manifest.Producer{
		Size: o.Size, Persistent: persistent(o), Mandatory: slices.Contains(o.Flags, "mandatory"), Confirm: o.Window(),
		Limit: o.PMessages, Batch: o.Batch, Stamp: o.Stamp, TxSize: o.PTxSize, PooledBodies: len(o.Bodies) > 0 || o.JSONBody,
		Properties: b.properties(), StampMillis: o.UseMillis && o.Stamp == manifest.StampPerfTest,
	}
	if o.RoutingKeyCacheSize > 0 {
		p.Routes = o.RoutingKeyCacheSize
	}
	if over := o.MessageProperties.Persistent; over != nil {
		p.Persistent = *over
	}
	if p.Stamp == "" {
		p.Stamp = manifest.StampBody
		if p.PooledBodies {
			p.Stamp = manifest.StampHeader
		}
	}
	if p.PooledBodies {
		return p
	}
	if p.Sizes = o.VariableSize; len(p.Sizes) > 0 {
		p.Size = slices.MaxFunc(p.Sizes, func(a, b manifest.SizeStage) int { return a.Bytes - b.Bytes }).Bytes
	}
	return p
}

// properties of every message; nil for none. A content type among them wins over the one of the bodies.
func (b *builder) properties() *manifest.Properties {
	p := b.o.MessageProperties.Properties
	if p.ContentType == "" {
		switch {
		case len(b.o.Bodies) > 0:
			p.ContentType = b.o.BodyContentType
		case b.o.JSONBody:
			p.ContentType = "application/json"
		}
	}
	if reflect.DeepEqual(p, manifest.Properties{}) {
		return nil
	}
	return &p
}

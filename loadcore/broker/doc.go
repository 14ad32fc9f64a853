// Package broker is an AMQP 0-9-1 broker in this process, for two uses with one code: as fast as can be, so that a load
// generator can be measured against something that is not the limit; and wrong on purpose, so that what finds lost,
// duplicated, damaged or late messages can be shown some.
//
// It keeps messages in memory and nothing on disk. It has classic queues; the exchange types direct, fanout and topic;
// publisher confirms, transactions, mandatory, basic.get, prefetch per consumer and per channel, requeue, exclusive and
// auto-delete queues, length bounds, PLAIN and EXTERNAL, heartbeats, TLS. What RabbitMQ has and this broker has not it refuses, with RabbitMQ's
// reply codes and in RabbitMQ's words, so that nothing works here that would do something else there.
//
//	f, err := broker.ParseFaults("drop@1000-7000/1000,cut@9000")
//	s, err := broker.Start(broker.Options{Faults: f})
//	defer s.Close()
//	conn, err := amqp.Dial(s.URI())
//
// # How messages flow
//
//	reader of a publishing connection           queue                       writer of a consuming connection
//	parse in place, copy into a slab  --batch-->  ready --in turn--> inbox  --take-->  encode, one write
//	  | one confirm a turn                          ^                                  |
//	  v                                             |                                  v
//	out buffer -> its writer                        +-- requeue <- reader <- acks -- unacked list of the channel
//
// Everything is done a batch at a time: a turn is what one read of a connection brings. Locks are few and held for a turn: a
// connection's, then a vhost's (only for lookups that the connection does not remember), then a queue's. No connection ever
// takes another one's lock; they wake each other's writers.
//
// # Invariants
//
//   - A message's bytes lie in a slab and are written once, before its entry reaches a queue. Whoever holds an entry holds
//     one reference of the slab.
//   - A queue's ready messages are in the order of their sequence, and requeued ones go back to their places.
//   - Delivery tags of a channel are given by its connection's writer, in the order of writing.
//   - Nothing waits without a bound: input is left alone while the output is full, while an alarm is raised or the broker is
//     told to stall; writes, handshakes and closes have deadlines; heartbeats end what is silent.
package broker

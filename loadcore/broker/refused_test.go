package broker_test

import (
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
)

// TestRefused: what RabbitMQ has and this broker has not is refused, never taken and forgotten. Codes and words are RabbitMQ's
// for the same kind of thing: 406 for an argument that a queue's type does not have, 503 for an unknown exchange type,
// 540 for what is not implemented.
func TestRefused(t *testing.T) {
	declare := func(args amqp.Table) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("refused", true, false, false, false, args)
			return err
		}
	}
	consume := func(queue string, args amqp.Table) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error {
			_, err := ch.Consume(queue, "c", true, false, false, false, args)
			return err
		}
	}
	exchange := func(kind string, args amqp.Table) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare("refused", kind, false, false, false, false, args)
		}
	}
	publish := func(p amqp.Publishing) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error { return ch.Publish("", "q", false, false, p) }
	}
	const classic = "PRECONDITION_FAILED - invalid arg '%' for queue 'refused' in vhost '/' of queue type rabbit_classic_queue"
	argument := func(name string) string { return strings.Replace(classic, "%", name, 1) }
	for _, c := range []struct {
		what string
		do   func(*amqp.Channel) error
		code int
		text string
	}{
		{"quorum queue", declare(amqp.Table{"x-queue-type": "quorum"}), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'refused' in vhost '/': "unsupported queue type 'quorum'"`},
		{"stream", declare(amqp.Table{"x-queue-type": "stream"}), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'refused' in vhost '/': "unsupported queue type 'stream'"`},
		{"message TTL", declare(amqp.Table{"x-message-ttl": int32(1000)}), 406, argument("x-message-ttl")},
		{"queue TTL", declare(amqp.Table{"x-expires": int32(1000)}), 406, argument("x-expires")},
		{"priorities", declare(amqp.Table{"x-max-priority": int32(5)}), 406, argument("x-max-priority")},
		{"dead-lettering", declare(amqp.Table{"x-dead-letter-exchange": ""}), 406, argument("x-dead-letter-exchange")},
		{"length in bytes", declare(amqp.Table{"x-max-length-bytes": int64(1000)}), 406, argument("x-max-length-bytes")},
		{"single active consumer", declare(amqp.Table{"x-single-active-consumer": true}), 406, argument("x-single-active-consumer")},
		{"lazy queue", declare(amqp.Table{"x-queue-mode": "lazy"}), 406, argument("x-queue-mode")},
		{"queue version", declare(amqp.Table{"x-queue-version": int32(2)}), 406, argument("x-queue-version")},
		{"master locator", declare(amqp.Table{"x-queue-master-locator": "min-masters"}), 406, argument("x-queue-master-locator")},
		{"overflow to dead letters", declare(amqp.Table{"x-overflow": "reject-publish-dlx"}), 406, "PRECONDITION_FAILED - invalid arg 'x-overflow' for queue 'refused' in vhost '/': invalid_overflow"},
		{"a misspelt argument", declare(amqp.Table{"x-max-lenght": int32(5)}), 406, argument("x-max-lenght")},
		{"consumer priority", consume("q", amqp.Table{"x-priority": int32(5)}), 406, "PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/' of queue type rabbit_classic_queue"},
		{"stream offset", consume("q", amqp.Table{"x-stream-offset": "first"}), 406, "PRECONDITION_FAILED - invalid arg 'x-stream-offset' for queue 'q' in vhost '/' of queue type rabbit_classic_queue"},
		{"direct reply-to", consume("amq.rabbitmq.reply-to", nil), 540, "NOT_IMPLEMENTED - direct reply-to"},
		{"headers exchange", exchange("headers", nil), 503, "COMMAND_INVALID - unknown exchange type 'headers'"},
		{"consistent hash exchange", exchange("x-consistent-hash", nil), 503, "COMMAND_INVALID - unknown exchange type 'x-consistent-hash'"},
		{"alternate exchange", exchange("direct", amqp.Table{"alternate-exchange": "a"}), 540, "NOT_IMPLEMENTED - argument 'alternate-exchange' of exchange 'refused'"},
		{"predeclared headers exchange", func(ch *amqp.Channel) error { return ch.QueueBind("q", "", "amq.headers", false, nil) }, 404, "NOT_FOUND - no exchange 'amq.headers' in vhost '/'"},
		{"exchange to exchange", func(ch *amqp.Channel) error { return ch.ExchangeBind("amq.fanout", "", "amq.direct", false, nil) }, 540, "NOT_IMPLEMENTED - exchange.bind"},
		{"exchange from exchange", func(ch *amqp.Channel) error { return ch.ExchangeUnbind("amq.fanout", "", "amq.direct", false, nil) }, 540, "NOT_IMPLEMENTED - exchange.unbind"},
		{"expiration of a message", publish(amqp.Publishing{Expiration: "1000"}), 540, "NOT_IMPLEMENTED - message property 'expiration'"},
		{"sender-selected distribution", publish(amqp.Publishing{Headers: amqp.Table{"CC": []any{"other"}}}), 540, "NOT_IMPLEMENTED - message header 'CC'"},
		{"hidden sender-selected distribution", publish(amqp.Publishing{Headers: amqp.Table{"BCC": []any{"other"}}}), 540, "NOT_IMPLEMENTED - message header 'BCC'"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := start(t, broker.Options{})
			conn, err := amqp.Dial(s.URI())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			end := reason(ch)
			c.do(ch) // what it returns depends on who is faster; why the channel ends does not
			select {
			case e := <-end:
				if e == nil || e.Code != c.code || e.Reason != c.text {
					t.Errorf("got %v, want %d %q", e, c.code, c.text)
				}
			case <-time.After(patience):
				t.Error("it is accepted")
			}
			if st := s.Stats(); st.Queues > 1 || st.Ready > 0 {
				t.Errorf("it was refused and done all the same: %+v", st)
			}
		})
	}
}

// TestServerProperties: the broker says what it is, and announces what it has and nothing else.
func TestServerProperties(t *testing.T) {
	s := start(t, broker.Options{Version: "1.2.3"})
	conn, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if p, v := conn.Properties["product"], conn.Properties["version"]; p != broker.Product || v != "1.2.3" {
		t.Errorf("product %v, version %v", p, v)
	}
	capabilities := conn.Properties["capabilities"].(amqp.Table)
	for name, want := range map[string]bool{
		"publisher_confirms": true, "basic.nack": true, "consumer_cancel_notify": true, "connection.blocked": true,
		"authentication_failure_close": true, "per_consumer_qos": true,
		"exchange_exchange_bindings": false, "consumer_priorities": false, "direct_reply_to": false,
	} {
		if got, _ := capabilities[name].(bool); got != want {
			t.Errorf("capability %s: %v, want %v", name, got, want)
		}
	}
}

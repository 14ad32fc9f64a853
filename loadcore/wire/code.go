package wire

import "fmt"

// ReplyCode is why a message came back or a channel or connection was closed.
type ReplyCode uint16

// Reply codes of AMQP 0-9-1 section 1.2, and 312 as RabbitMQ uses it.
const (
	ReplySuccess            ReplyCode = 200
	ReplyContentTooLarge    ReplyCode = 311
	ReplyNoRoute            ReplyCode = 312
	ReplyNoConsumers        ReplyCode = 313
	ReplyConnectionForced   ReplyCode = 320
	ReplyInvalidPath        ReplyCode = 402
	ReplyAccessRefused      ReplyCode = 403
	ReplyNotFound           ReplyCode = 404
	ReplyResourceLocked     ReplyCode = 405
	ReplyPreconditionFailed ReplyCode = 406
	ReplyFrameError         ReplyCode = 501
	ReplySyntaxError        ReplyCode = 502
	ReplyCommandInvalid     ReplyCode = 503
	ReplyChannelError       ReplyCode = 504
	ReplyUnexpectedFrame    ReplyCode = 505
	ReplyResourceError      ReplyCode = 506
	ReplyNotAllowed         ReplyCode = 530
	ReplyNotImplemented     ReplyCode = 540
	ReplyInternalError      ReplyCode = 541
)

// String returns the name as RabbitMQ writes it before its reply texts, such as "NOT_FOUND"; the bare number for a code
// that the protocol does not know.
func (c ReplyCode) String() string {
	switch c {
	case ReplySuccess:
		return "REPLY_SUCCESS"
	case ReplyContentTooLarge:
		return "CONTENT_TOO_LARGE"
	case ReplyNoRoute:
		return "NO_ROUTE"
	case ReplyNoConsumers:
		return "NO_CONSUMERS"
	case ReplyConnectionForced:
		return "CONNECTION_FORCED"
	case ReplyInvalidPath:
		return "INVALID_PATH"
	case ReplyAccessRefused:
		return "ACCESS_REFUSED"
	case ReplyNotFound:
		return "NOT_FOUND"
	case ReplyResourceLocked:
		return "RESOURCE_LOCKED"
	case ReplyPreconditionFailed:
		return "PRECONDITION_FAILED"
	case ReplyFrameError:
		return "FRAME_ERROR"
	case ReplySyntaxError:
		return "SYNTAX_ERROR"
	case ReplyCommandInvalid:
		return "COMMAND_INVALID"
	case ReplyChannelError:
		return "CHANNEL_ERROR"
	case ReplyUnexpectedFrame:
		return "UNEXPECTED_FRAME"
	case ReplyResourceError:
		return "RESOURCE_ERROR"
	case ReplyNotAllowed:
		return "NOT_ALLOWED"
	case ReplyNotImplemented:
		return "NOT_IMPLEMENTED"
	case ReplyInternalError:
		return "INTERNAL_ERROR"
	}
	return fmt.Sprintf("%d", uint16(c))
}

// Soft reports whether the code closes only the channel (AMQP's channel exceptions); all others close the connection.
func (c ReplyCode) Soft() bool {
	switch c {
	case ReplyContentTooLarge, ReplyNoRoute, ReplyNoConsumers, ReplyAccessRefused, ReplyNotFound, ReplyResourceLocked,
		ReplyPreconditionFailed:
		return true
	}
	return false
}

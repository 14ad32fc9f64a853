package wire

import "fmt"

// MethodID identifies a method: class in the upper 16 bits, method in the lower.
type MethodID uint32

// Class returns the class id, such as 60 for basic.
func (id MethodID) Class() uint16 { return uint16(id >> 16) }

// Method returns the method id within the class.
func (id MethodID) Method() uint16 { return uint16(id) }

// String returns the protocol's name, such as "basic.publish"; "method 60.77" where there is none.
func (id MethodID) String() string {
	if k, ok := kinds[id]; ok {
		return k.name
	}
	return fmt.Sprintf("method %d.%d", id.Class(), id.Method())
}

// ClassBasic is the only class whose methods carry content.
const ClassBasic = 60

// The methods of AMQP 0-9-1 as RabbitMQ extends it, from the protocol's class and method indexes.
const (
	ConnectionStartID          MethodID = 10<<16 | 10
	ConnectionStartOkID        MethodID = 10<<16 | 11
	ConnectionSecureID         MethodID = 10<<16 | 20
	ConnectionSecureOkID       MethodID = 10<<16 | 21
	ConnectionTuneID           MethodID = 10<<16 | 30
	ConnectionTuneOkID         MethodID = 10<<16 | 31
	ConnectionOpenID           MethodID = 10<<16 | 40
	ConnectionOpenOkID         MethodID = 10<<16 | 41
	ConnectionCloseID          MethodID = 10<<16 | 50
	ConnectionCloseOkID        MethodID = 10<<16 | 51
	ConnectionBlockedID        MethodID = 10<<16 | 60
	ConnectionUnblockedID      MethodID = 10<<16 | 61
	ConnectionUpdateSecretID   MethodID = 10<<16 | 70
	ConnectionUpdateSecretOkID MethodID = 10<<16 | 71

	ChannelOpenID    MethodID = 20<<16 | 10
	ChannelOpenOkID  MethodID = 20<<16 | 11
	ChannelFlowID    MethodID = 20<<16 | 20
	ChannelFlowOkID  MethodID = 20<<16 | 21
	ChannelCloseID   MethodID = 20<<16 | 40
	ChannelCloseOkID MethodID = 20<<16 | 41

	ExchangeDeclareID   MethodID = 40<<16 | 10
	ExchangeDeclareOkID MethodID = 40<<16 | 11
	ExchangeDeleteID    MethodID = 40<<16 | 20
	ExchangeDeleteOkID  MethodID = 40<<16 | 21
	ExchangeBindID      MethodID = 40<<16 | 30
	ExchangeBindOkID    MethodID = 40<<16 | 31
	ExchangeUnbindID    MethodID = 40<<16 | 40
	ExchangeUnbindOkID  MethodID = 40<<16 | 51 // 51 it is: RabbitMQ's definition skips 41

	QueueDeclareID   MethodID = 50<<16 | 10
	QueueDeclareOkID MethodID = 50<<16 | 11
	QueueBindID      MethodID = 50<<16 | 20
	QueueBindOkID    MethodID = 50<<16 | 21
	QueuePurgeID     MethodID = 50<<16 | 30
	QueuePurgeOkID   MethodID = 50<<16 | 31
	QueueDeleteID    MethodID = 50<<16 | 40
	QueueDeleteOkID  MethodID = 50<<16 | 41
	QueueUnbindID    MethodID = 50<<16 | 50
	QueueUnbindOkID  MethodID = 50<<16 | 51

	BasicQosID          MethodID = 60<<16 | 10
	BasicQosOkID        MethodID = 60<<16 | 11
	BasicConsumeID      MethodID = 60<<16 | 20
	BasicConsumeOkID    MethodID = 60<<16 | 21
	BasicCancelID       MethodID = 60<<16 | 30
	BasicCancelOkID     MethodID = 60<<16 | 31
	BasicPublishID      MethodID = 60<<16 | 40
	BasicReturnID       MethodID = 60<<16 | 50
	BasicDeliverID      MethodID = 60<<16 | 60
	BasicGetID          MethodID = 60<<16 | 70
	BasicGetOkID        MethodID = 60<<16 | 71
	BasicGetEmptyID     MethodID = 60<<16 | 72
	BasicAckID          MethodID = 60<<16 | 80
	BasicRejectID       MethodID = 60<<16 | 90
	BasicRecoverAsyncID MethodID = 60<<16 | 100
	BasicRecoverID      MethodID = 60<<16 | 110
	BasicRecoverOkID    MethodID = 60<<16 | 111
	BasicNackID         MethodID = 60<<16 | 120

	ConfirmSelectID   MethodID = 85<<16 | 10
	ConfirmSelectOkID MethodID = 85<<16 | 11

	TxSelectID     MethodID = 90<<16 | 10
	TxSelectOkID   MethodID = 90<<16 | 11
	TxCommitID     MethodID = 90<<16 | 20
	TxCommitOkID   MethodID = 90<<16 | 21
	TxRollbackID   MethodID = 90<<16 | 30
	TxRollbackOkID MethodID = 90<<16 | 31
)

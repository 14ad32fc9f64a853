package wire

// Methods of the classes channel, confirm and tx. A plain name is the request, ...Ok its answer.

// ChannelOpen opens the channel whose number the frame carries.
type ChannelOpen struct{}

func (*ChannelOpen) ID() MethodID         { return ChannelOpenID }
func (m *ChannelOpen) visit(a *arguments) { a.reservedShortstr() }

// ChannelOpenOk says that the channel is open.
type ChannelOpenOk struct{}

func (*ChannelOpenOk) ID() MethodID         { return ChannelOpenOkID }
func (m *ChannelOpenOk) visit(a *arguments) { a.reservedLongstr() }

// ChannelFlow, from either side, asks the peer to stop or to go on sending content.
type ChannelFlow struct{ Active bool }

func (*ChannelFlow) ID() MethodID         { return ChannelFlowID }
func (m *ChannelFlow) visit(a *arguments) { a.bits("active", &m.Active) }

// ChannelFlowOk says what the peer does now.
type ChannelFlowOk struct{ Active bool }

func (*ChannelFlowOk) ID() MethodID         { return ChannelFlowOkID }
func (m *ChannelFlowOk) visit(a *arguments) { a.bits("active", &m.Active) }

// ChannelClose, from either side, says why: Class and Method are those of the method that caused it, else 0.
type ChannelClose struct {
	ReplyCode     ReplyCode
	ReplyText     string // cut when written, see ReplyText
	Class, Method uint16
}

func (*ChannelClose) ID() MethodID { return ChannelCloseID }
func (m *ChannelClose) visit(a *arguments) {
	a.code(&m.ReplyCode)
	a.text("reply-text", &m.ReplyText)
	a.short("class-id", &m.Class)
	a.short("method-id", &m.Method)
}

// ChannelCloseOk frees the channel's number.
type ChannelCloseOk struct{ noArgs }

func (*ChannelCloseOk) ID() MethodID { return ChannelCloseOkID }

// ConfirmSelect turns on publisher confirms on a channel; the first publish after it has delivery tag 1.
type ConfirmSelect struct{ NoWait bool }

func (*ConfirmSelect) ID() MethodID         { return ConfirmSelectID }
func (m *ConfirmSelect) visit(a *arguments) { a.bits("nowait", &m.NoWait) }

// ConfirmSelectOk says that confirms are on.
type ConfirmSelectOk struct{ noArgs }

func (*ConfirmSelectOk) ID() MethodID { return ConfirmSelectOkID }

// TxSelect makes a channel transactional.
type TxSelect struct{ noArgs }

func (*TxSelect) ID() MethodID { return TxSelectID }

// TxSelectOk says that the channel is transactional.
type TxSelectOk struct{ noArgs }

func (*TxSelectOk) ID() MethodID { return TxSelectOkID }

// TxCommit commits the open transaction and begins the next.
type TxCommit struct{ noArgs }

func (*TxCommit) ID() MethodID { return TxCommitID }

// TxCommitOk says that the transaction is committed.
type TxCommitOk struct{ noArgs }

func (*TxCommitOk) ID() MethodID { return TxCommitOkID }

// TxRollback abandons the open transaction and begins the next.
type TxRollback struct{ noArgs }

func (*TxRollback) ID() MethodID { return TxRollbackID }

// TxRollbackOk says that the transaction is abandoned.
type TxRollbackOk struct{ noArgs }

func (*TxRollbackOk) ID() MethodID { return TxRollbackOkID }

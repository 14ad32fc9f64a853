package schema

// Positions of the columns of Churn; part of the format.
const (
	ChurnOp = iota
	ChurnStep
	ChurnOutcome
	ChurnLast
	ChurnDue
	ChurnStarted
	ChurnBegun
	ChurnEnded
	ChurnCode
	ChurnText
)

var churnColumns = []Column{
	ChurnOp:      {Name: "op", Type: U64},
	ChurnStep:    {Name: "step", Type: U8},
	ChurnOutcome: {Name: "outcome", Type: U8},
	ChurnLast:    {Name: "last", Type: U8},
	ChurnDue:     {Name: "due_ns", Type: I64, Nullable: true},
	ChurnStarted: {Name: "started_ns", Type: I64, Nullable: true},
	ChurnBegun:   {Name: "begun_ns", Type: I64, Nullable: true},
	ChurnEnded:   {Name: "ended_ns", Type: I64},
	ChurnCode:    {Name: "code", Type: U16},
	ChurnText:    {Name: "text", Type: Text},
}

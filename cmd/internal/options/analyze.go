package options

// Analyze holds the options of `leveret analyze`.
type Analyze struct {
	Report Report
	Quiet  bool
	Memory int64  // bytes of working memory, beside a little per message
	Tmp    string // directory of what outgrows it; "": the system's
}

// NewAnalyze returns the set of `leveret analyze` and the struct that it fills.
func NewAnalyze() (*Set, *Analyze) {
	a := &Analyze{}
	rows := append(a.Report.options(), &Option{Name: "quiet", Group: groupReport, value: toggle(&a.Quiet, false),
		Help: "no progress bar"},
		&Option{Name: "memory", Arg: "BYTES", Group: groupReport, value: size(&a.Memory, 128<<20, 16<<20),
			Help: "working memory; what outgrows it goes to a temporary file"},
		&Option{Name: "tmp", Arg: "DIR", Group: groupReport, value: text(&a.Tmp, ""),
			Help: "directory for that temporary file; without it the system's"})
	return newSet("analyze", rows), a
}

// Broker holds the options of `leveret broker`.
type Broker struct {
	Listen string
	Cert   string
	Key    string
	CACert string
	Faults string
}

// NewBroker returns the set of `leveret broker` and the struct that it fills.
func NewBroker() (*Set, *Broker) {
	b := &Broker{}
	return newSet("broker", []*Option{
		{Name: "listen", Arg: "HOST:PORT", Group: groupEmbedded, value: text(&b.Listen, "127.0.0.1:5672"), Help: "address to listen on; port 0 takes a free one"},
		{Name: "cert", Arg: "FILE", Group: groupEmbedded, value: text(&b.Cert, ""), Help: "PEM file of the server's certificate; makes it amqps"},
		{Name: "key", Arg: "FILE", Group: groupEmbedded, value: text(&b.Key, ""), Help: "PEM file of the server's private key"},
		{Name: "cacert", Arg: "FILE", Group: groupEmbedded, value: text(&b.CACert, ""), Help: "PEM file of the authorities whose client certificates are accepted"},
		faultsOption(&b.Faults, "what the broker does wrong on purpose, by message number; the faults are listed below"),
	}), b
}

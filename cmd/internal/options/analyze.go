package options

// Analyze holds the options of `leveret analyze`.
type Analyze struct {
	Report Report
	Quiet  bool
}

// NewAnalyze returns the set of `leveret analyze` and the struct that it fills.
func NewAnalyze() (*Set, *Analyze) {
	a := &Analyze{}
	rows := append(a.Report.options(), &Option{Name: "quiet", Group: groupReport, value: toggle(&a.Quiet, false),
		Help: "no progress bar"})
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
		faultsOption(&b.Faults),
	}), b
}

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
	letters(rows)
	return newSet("analyze", rows), a
}

// letters gives options that are typed often a letter, in commands that have no options of PerfTest's.
func letters(rows []*Option) {
	for _, o := range rows {
		if o.Name == "output" {
			o.Short = "o"
		}
	}
}

// Calibrate holds the options of `leveret calibrate`.
type Calibrate struct {
	Quick  bool
	Format string
	Output string // "" : the user's cache folder
	Tmp    string // "" : the system's
	Quiet  bool
}

// NewCalibrate returns the set of `leveret calibrate` and the struct that it fills.
func NewCalibrate() (*Set, *Calibrate) {
	c := &Calibrate{}
	return newSet("calibrate", []*Option{
		{Name: "quick", Group: groupReport, value: toggle(&c.Quick, false), Help: "shorter measurements: some 5 seconds instead of 20, coarser figures"},
		{Name: "format", Arg: "FORMAT", Group: groupReport, value: choice(&c.Format, "text", "text", "json"), Help: "form of the report on stdout: text or json"},
		{Name: "output", Arg: "FILE", Group: groupReport, value: text(&c.Output, ""), Help: "keep the calibration in this file; without it where reports of later runs find it, in the user's cache folder"},
		{Name: "tmp", Arg: "DIR", Group: groupRecord, value: text(&c.Tmp, ""), Help: "folder to record into meanwhile, on the disk that matters; without it the system's folder for temporary files"},
		{Name: "quiet", Group: groupReport, value: toggle(&c.Quiet, false), Help: "no progress lines"},
	}), c
}

// Broker holds the options of `leveret broker`.
type Broker struct {
	Listen string
	Cert   string
	Key    string
	CACert string
	Faults string
	// UntilEOF ends the broker with its standard input, too.
	UntilEOF bool
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
		{Name: "until-eof", Group: groupEmbedded, value: toggle(&b.UntilEOF, false), Help: "end when standard input ends, too: for programs that start the broker"},
	}), b
}

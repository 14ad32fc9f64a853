package main

import "strconv"

// Where the command lines were published; the line is that of the page's text.
const (
	// "Testing RabbitMQ Production and Consumption Rate", in the user guide of Huawei Cloud's Distributed Message Service.
	huawei        = "Huawei DMS, "
	huaweiChinese = "Huawei DMS in Chinese, "
	danube        = "DanubeData, " // "RabbitMQ Performance Benchmarks: 120K+ Messages Per Second on DanubeData"
	homeLab       = "home lab, "   // "RabbitMQ performance test in a home lab", 2018
)

// A publishedGroup is of lines that ask for the same preparation, which the page describes: paths of the management API below
// exchanges, queues and policies of the virtual host, and what is put there.
type publishedGroup struct {
	name     string
	exchange string // for its placeholder; "": exchange-direct
	prepare  map[string]string
	lines    []publishedLine
}

// A publishedLine is a command line as it stands on its page, line breaks included; only user and password of the home lab are
// not its own. What stands there several times, or comes to the same once it is filled in, is run once.
type publishedLine struct {
	from string
	text string
	fill blanks // for its placeholders, from the page's tables of results
	want published
}

type blanks struct{ producers, consumers, queues string }

// published is what the line asks for.
type published struct {
	producers, consumers int
	queue                string // its name; with a verb, those from 1 to last; "": as many as consumers, named by the broker
	last                 int
}

// publishedGroups are the command lines for PerfTest on five public pages: Huawei's in English and in Chinese, DanubeData's, the
// home lab's, and CloudAMQP's on the performance of RabbitMQ, which measures with two tools and shows no command line.
var publishedGroups = []publishedGroup{
	{name: "persistent messages in lazy queues", prepare: map[string]string{"policies/lazy": `{"pattern":".*","definition":{"queue-mode":"lazy"}}`}, lines: []publishedLine{
		{homeLab + "line 117", `$ bin/runjava com.rabbitmq.perf.PerfTest -x 1 -y 1 -u "throughput-test-1" --id "test-1" -f persistent -s 512 -h amqp://user:
password@10.39.124.201:5672`, blanks{}, published{producers: 1, consumers: 1, queue: "throughput-test-1"}},
		{homeLab + "line 132", "bin/runjava com.rabbitmq.perf.PerfTest --queue-pattern 'perf-test-%d' --queue-pattern-from 1 --queue-pattern-to 14 --producers 14 --consumers 0 -f persistent -h amqp://user:password@10.39.124.201:5672",
			blanks{}, published{producers: 14, queue: "perf-test-%d", last: 14}},
		{homeLab + "line 236", "bin/runjava com.rabbitmq.perf.PerfTest --queue-pattern 'perf-test-%d' --queue-pattern-from 1 --queue-pattern-to 14 --producers 14 -f persistent --consumers 0 -h amqp://user:password@10.39.124.201:5672",
			blanks{}, published{producers: 14, queue: "perf-test-%d", last: 14}},
		{homeLab + "line 193", `bin/runjava com.rabbitmq.perf.PerfTest --queue-pattern 'perf-test-%05d' \
          --queue-pattern-from 1 --queue-pattern-to 2000 \
            --producers 2000 --consumers 0 \
            --nio-threads 10 --producer-scheduler-threads 10 --consumers-thread-pools 10 \
             --publishing-interval 1 -s 512 \
              --heartbeat-sender-threads 10 -f persistent --producer-random-start-delay 60 -h amqp://user:password@10.39.124.201:5672`,
			blanks{}, published{producers: 2000, queue: "perf-test-%05d", last: 2000}},
	}},
	{name: "instance flavors, numbers of producers, consumers and queues", lines: []publishedLine{
		{huawei + "line 112", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z {running time}",
			blanks{"6", "6", ""}, published{producers: 6, consumers: 6, queue: "queue-1"}},
		{huawei + "line 153", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x {producer count} -y {consumer count} -z {running time} --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{"6", "6", "10"}, published{producers: 6, consumers: 6, queue: "queue-%d", last: 10}},
		{huawei + "line 199", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x 3 -y 3 -z 300",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huawei + "line 203, in Chinese step 2", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 3 -y 3 -z 300",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huawei + "lines 225 and 242", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z 300",
			blanks{"1", "3", ""}, published{producers: 1, consumers: 3, queue: "queue-1"}},
		{huawei + "lines 229 and 246, in Chinese step 4", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300",
			blanks{}, published{producers: 1, consumers: 1, queue: "queue-1"}},
		{huawei + "lines 233 and 250", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x {producer count} -y {consumer count} -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{"3", "3", "6"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 6}},
		{huawei + "lines 237 and 254, in Chinese step 4", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 3}},
		{huaweiChinese + "step 2", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x 3 -y 3 -z 300",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huaweiChinese + "single-queue script", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x ${生产者个数} -y ${消费者个数} -z ${运行时间}",
			blanks{"6", "1", ""}, published{producers: 6, consumers: 1, queue: "queue-1"}},
		{huaweiChinese + "multi-queue script", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -x ${生产者个数} -y ${消费者个数} -z ${运行时间} --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{"3", "3", "10"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 10}},
	}},
	{name: "TLS", lines: []publishedLine{
		{huawei + "line 208", "./runjava com.rabbitmq.perf.PerfTest -h amqps://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z 300",
			blanks{"3", "1", ""}, published{producers: 3, consumers: 1, queue: "queue-1"}},
		{huawei + "line 212, in Chinese step 3", "./runjava com.rabbitmq.perf.PerfTest -h amqps://test:******@192.168.0.150:5671 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300",
			blanks{}, published{producers: 1, consumers: 1, queue: "queue-1"}},
		{huawei + "line 216", "./runjava com.rabbitmq.perf.PerfTest -h amqps://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{queues: "10"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 10}},
		{huawei + "line 220, in Chinese step 3", "./runjava com.rabbitmq.perf.PerfTest -h amqps://test:******@192.168.0.150:5671 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 3}},
		{huaweiChinese + "step 3", "./runjava com.rabbitmq.perf.PerfTest -h amqps://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x ${生产者个数} -y ${消费者个数} -z 300",
			blanks{"1", "3", ""}, published{producers: 1, consumers: 3, queue: "queue-1"}},
		{huaweiChinese + "step 3", "./runjava com.rabbitmq.perf.PerfTest -h amqps://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{queues: "6"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 6}},
	}},
	{name: "lazy queues", prepare: map[string]string{"policies/lazy": `{"pattern":"^queue-","definition":{"queue-mode":"lazy"}}`}, lines: []publishedLine{
		{huawei + "line 242", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z 300",
			blanks{"3", "3", ""}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huawei + "line 250", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x {producer count} -y {consumer count} -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{"3", "3", "10"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 10}},
		{huawei + "line 246", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300",
			blanks{}, published{producers: 1, consumers: 1, queue: "queue-1"}},
		{huawei + "line 254", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 3}},
	}},
	{name: "mirrored queues", prepare: map[string]string{"policies/mirrored": `{"pattern":"^queue-","definition":{"ha-mode":"all"}}`}, lines: []publishedLine{
		{huaweiChinese + "steps 4 and 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x ${生产者个数} -y ${消费者个数} -z 300",
			blanks{"6", "6", ""}, published{producers: 6, consumers: 6, queue: "queue-1"}},
		{huaweiChinese + "steps 4 and 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -x ${生产者个数} -y ${消费者个数} -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x",
			blanks{"6", "6", "10"}, published{producers: 6, consumers: 6, queue: "queue-%d", last: 10}},
	}},
	{name: "quorum queues", prepare: quorumQueues(10), lines: []publishedLine{
		{huawei + "line 256", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z 300 --predeclared",
			blanks{"3", "3", ""}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huawei + "line 260, in Chinese step 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300 --predeclared",
			blanks{}, published{producers: 1, consumers: 1, queue: "queue-1"}},
		{huawei + "line 264", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x {producer count} -y {consumer count} -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x --predeclared",
			blanks{"3", "3", "10"}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 10}},
		{huawei + "line 268, in Chinese step 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3 --predeclared",
			blanks{}, published{producers: 3, consumers: 3, queue: "queue-%d", last: 3}},
		{huaweiChinese + "step 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x ${生产者个数} -y ${消费者个数} -z 300 --predeclared",
			blanks{"6", "6", ""}, published{producers: 6, consumers: 6, queue: "queue-1"}},
		{huaweiChinese + "step 5", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -x ${生产者个数} -y ${消费者个数} -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x --predeclared",
			blanks{"6", "6", "10"}, published{producers: 6, consumers: 6, queue: "queue-%d", last: 10}},
	}},
	{name: "fanout", exchange: "exchange-fanout", prepare: map[string]string{"exchanges/exchange-fanout": `{"type":"fanout","durable":false}`}, lines: []publishedLine{
		{huawei + "line 274", "./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z 300 --predeclared",
			blanks{"3", "3", ""}, published{producers: 3, consumers: 3, queue: "queue-1"}},
		{huawei + "line 278, in Chinese step 6", "./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-fanout -s 1024 -u queue-1 -x 1 -y 3 -z 300 --predeclared",
			blanks{}, published{producers: 1, consumers: 3, queue: "queue-1"}},
		{huaweiChinese + "step 6", "./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x ${生产者个数} -y ${消费者个数} -z 300 --predeclared",
			blanks{"1", "6", ""}, published{producers: 1, consumers: 6, queue: "queue-1"}},
	}},
	{name: "automatic acks and confirms", lines: []publishedLine{
		{danube + "line 23", `docker run --rm pivotalrabbitmq/perf-test:latest 
  --uri 'amqp://admin:PASSWORD@amqp-instance.queues.danubedata.ro:5674' 
  --producers 1 
  --consumers 1 
  --autoack 
  --time 30`, blanks{}, published{producers: 1, consumers: 1, queue: ""}},
		{danube + "line 104", `docker run --rm pivotalrabbitmq/perf-test:latest 
  --uri 'amqp://admin:YOUR_PASSWORD@your-instance.queues.danubedata.ro:5672' 
  --producers 1 
  --consumers 1 
  --autoack 
  --time 30`, blanks{}, published{producers: 1, consumers: 1, queue: ""}},
		{danube + "line 112", `docker run --rm pivotalrabbitmq/perf-test:latest 
  --uri 'amqp://admin:YOUR_PASSWORD@your-instance.queues.danubedata.ro:5672' 
  --producers 1 
  --consumers 1 
  --autoack 
  --confirm 5000 
  --time 30`, blanks{}, published{producers: 1, consumers: 1, queue: ""}},
	}},
}

func quorumQueues(n int) map[string]string {
	prepare := map[string]string{"exchanges/exchange-direct": `{"type":"direct","durable":true}`}
	for i := range n {
		prepare["queues/queue-"+strconv.Itoa(i+1)] = `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`
	}
	return prepare
}

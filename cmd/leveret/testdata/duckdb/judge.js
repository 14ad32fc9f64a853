// Judges one run with DuckDB, from exported rows and the manifest alone:
//
//	leveret export CAPTURE --rows sends --output DIR/sends.parquet       (likewise settlements, deliveries)
//	node judge.js CAPTURE DIR
//
// prints counts and latencies as JSON, numbers as strings. It is for runs with confirms whose queues were drained, and have no
// rule that may remove a message but purges that are marked; each queue has one consumer.

const fs = require('fs');
const path = require('path');
const { DuckDBInstance } = require('@duckdb/node-api');

const [capture, dir] = process.argv.slice(2);
const manifest = JSON.parse(fs.readFileSync(path.join(capture, 'manifest.json'), 'utf8')
  .replace(/("(?:barrier|publish_stop)_ns": *)(-?\d+)/g, '$1"$2"')); // JavaScript's numbers are too short for them
const rows = (kind) => `read_parquet('${path.join(dir, kind)}.parquet')`;
// Marks that say when a queue was purged, by its index.
const marksFile = path.join(capture, 'marks.jsonl');
const purges = (fs.existsSync(marksFile) ? fs.readFileSync(marksFile, 'utf8').trim().split('\n') : [])
  .map((line) => JSON.parse(line.replace(/("at_ns": *)(-?\d+)/, '$1"$2"')))
  .filter((mark) => mark.purged !== undefined)
  .map((mark) => `(${manifest.topology.queues.findIndex((q) => q.name === mark.purged)}, ${mark.at_ns})`);
const values = (list, none) => (list.length > 0 ? `VALUES ${list.join(', ')}` : `SELECT ${none} WHERE false`);

// What the manifest tells: which queues each route leads to, who acks by itself.
const reaches = manifest.topology.routes.flatMap((r, route) => r.queues.map((queue) => `(${route}, ${queue})`));
const automatic = manifest.consumers.map((c, consumer) => `(${consumer}, ${c.auto_ack})`);

const tables = `
CREATE TABLE reaches(route BIGINT, queue BIGINT); INSERT INTO reaches ${values(reaches, '0, 0')};
CREATE TABLE consumers(consumer BIGINT, automatic BOOLEAN); INSERT INTO consumers ${values(automatic, '0, false')};
CREATE TABLE purges(queue BIGINT, at_ns BIGINT); INSERT INTO purges ${values(purges, '0, 0')};
CREATE TABLE sends AS SELECT * FROM ${rows('sends')} WHERE sent_ns IS NOT NULL;
CREATE TABLE unsent AS SELECT * FROM ${rows('sends')} WHERE sent_ns IS NULL;
CREATE TABLE answers AS SELECT producer, seq, kind, at_ns FROM ${rows('settlements')};
CREATE TABLE deliveries AS SELECT * FROM ${rows('deliveries')};

-- Deliveries of messages that this run sent, with their place among those of the same message and queue.
CREATE TABLE own AS
  SELECT d.*, row_number() OVER (PARTITION BY d.producer, d.seq, d.queue ORDER BY d.delivery_tag) AS nth
  FROM deliveries d JOIN sends s USING (tag, producer, seq) WHERE d.body = 'intact';

-- Messages and the queues that they should have reached.
CREATE TABLE expected AS
  SELECT s.producer, s.seq, s.sent_ns, s.due_ns, r.queue,
    EXISTS (FROM answers a WHERE a.producer = s.producer AND a.seq = s.seq AND a.kind = 'ack') AS acked,
    EXISTS (FROM deliveries d WHERE d.body = 'corrupt' AND d.producer = s.producer AND d.seq = s.seq AND d.queue = r.queue) AS claimed
  FROM sends s JOIN reaches r USING (route)
  WHERE NOT EXISTS (FROM answers a WHERE a.producer = s.producer AND a.seq = s.seq AND a.kind IN ('nack', 'return'));

CREATE TABLE absent AS SELECT *, EXISTS (FROM purges p WHERE p.queue = e.queue AND e.sent_ns < p.at_ns) AS purged FROM expected e
  WHERE NOT EXISTS (FROM own o WHERE o.producer = e.producer AND o.seq = e.seq AND o.queue = e.queue);

-- Each queue and consumer has its messages of a producer in order, as far as they come for the first time and unflagged.
CREATE TABLE strides AS
  SELECT *, max(seq) OVER (PARTITION BY producer, queue, consumer ORDER BY delivery_tag ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS highest
  FROM own WHERE nth = 1;
`;

const counts = {
  sent: 'SELECT count(*) FROM sends',
  confirmed: `SELECT count(*) FROM answers WHERE kind = 'ack'`,
  nacked: `SELECT count(*) FROM answers WHERE kind = 'nack'`,
  returned: `SELECT count(*) FROM answers WHERE kind = 'return'`,
  unconfirmed: `SELECT count(*) FROM sends s WHERE NOT EXISTS (FROM answers a WHERE a.producer = s.producer AND a.seq = s.seq AND a.kind IN ('ack', 'nack'))`,
  received: 'SELECT count(*) FROM deliveries',
  received_unique: 'SELECT count(*) FROM own WHERE nth = 1',
  redelivered: 'SELECT count(*) FROM deliveries WHERE redelivered',
  duplicates: 'SELECT count(*) FROM own JOIN consumers USING (consumer) WHERE nth > 1 AND (NOT redelivered OR automatic)',
  lost: 'SELECT count(*) FROM absent WHERE acked AND NOT claimed AND NOT purged',
  missing: 'SELECT count(*) FROM absent WHERE NOT claimed',
  missing_unconfirmed: 'SELECT count(*) FROM absent WHERE NOT acked AND NOT claimed AND NOT purged',
  removed_by_rule: 'SELECT count(*) FROM absent WHERE purged AND NOT claimed',
  corrupt: `SELECT count(*) FROM deliveries WHERE body = 'corrupt'`,
  out_of_order: 'SELECT count(*) FROM strides WHERE seq < highest AND NOT redelivered',
  foreign: `SELECT count(*) FROM deliveries d WHERE body = 'unstamped' OR body = 'intact' AND NOT EXISTS (FROM sends s WHERE s.tag = d.tag AND s.producer = d.producer AND s.seq = d.seq)`,
};

// The cohort is of messages that were due, else sent, from the barrier to the stop of publishing.
const cohort = `coalesce(s.due_ns, s.sent_ns) BETWEEN ${manifest.outcome.barrier_ns} AND ${manifest.outcome.publish_stop_ns}`;
const answered = {
  confirm: `SELECT a.at_ns AS answered_ns, s.sent_ns, s.due_ns FROM sends s JOIN answers a USING (producer, seq) WHERE a.kind = 'ack' AND ${cohort}`,
  delivery: `SELECT o.received_ns AS answered_ns, s.sent_ns, s.due_ns FROM own o JOIN sends s USING (producer, seq) WHERE o.nth = 1 AND ${cohort}`,
};
const censored = {
  confirm: `SELECT count(*) FROM sends s WHERE ${cohort} AND NOT EXISTS (FROM answers a WHERE a.producer = s.producer AND a.seq = s.seq AND a.kind IN ('ack', 'nack'))`,
  delivery: `SELECT count(*) FROM absent s WHERE ${cohort}`,
};
// What was due and never sent has no answer either, counted from when it was due.
const unsent = {
  confirm: `SELECT count(*) FROM unsent s WHERE ${cohort}`,
  delivery: `SELECT count(*) FROM unsent s JOIN reaches r USING (route) WHERE ${cohort}`,
};

// Nearest rank: of N values the one at rank ceil(p*N/100), in whole numbers; censored ones are the highest, and have no value.
const distribution = (what, from) => `
  WITH v AS (SELECT answered_ns - ${from} AS ns FROM (${answered[what]}) WHERE ${from} IS NOT NULL),
    ranked AS (SELECT ns, row_number() OVER (ORDER BY ns) AS rank FROM v),
    n AS (SELECT (SELECT count(*) FROM v) AS answered, (${censored[what]}) + ${from === 'due_ns' ? `(${unsent[what]})` : 0} AS censored)
  SELECT answered AS count, censored,
    (SELECT ns FROM ranked WHERE rank = (50 * (answered + censored) + 99) // 100) AS p50_ns,
    (SELECT ns FROM ranked WHERE rank = (99 * (answered + censored) + 99) // 100) AS p99_ns,
    (SELECT ns FROM ranked WHERE rank = (999 * (answered + censored) + 999) // 1000) AS p99_9_ns,
    (SELECT max(ns) FROM v) AS max_ns
  FROM n`;

async function main() {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  const first = async (sql) => (await connection.runAndReadAll(sql)).getRowObjects()[0];
  await connection.run(tables);
  const judged = { counts: {}, latency: {} };
  for (const [name, sql] of Object.entries(counts)) {
    judged.counts[name] = Object.values(await first(sql))[0];
  }
  for (const what of Object.keys(answered)) {
    judged.latency[what] = { service: await first(distribution(what, 'sent_ns')) };
    const response = await first(distribution(what, 'due_ns'));
    if (response.count > 0n) judged.latency[what].response = response;
  }
  console.log(JSON.stringify(judged, (key, v) => (typeof v === 'bigint' ? String(v) : v), 1));
}

main().catch((err) => { console.error(err); process.exit(1); });

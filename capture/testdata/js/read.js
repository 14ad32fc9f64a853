// Reads a capture directory with npm's apache-arrow and prints, as JSON, the rows of each kind and percentiles of the
// service latency of confirms. Usage: node read.js DIRECTORY
'use strict';
const fs = require('fs');
const path = require('path');
const arrow = require('apache-arrow');
const lz4 = require('lz4js');
const fzstd = require('fzstd');

// apache-arrow has no codec built in; it asks these for the buffers of compressed files. The copies are for alignment.
const { compressionRegistry, CompressionType } = arrow;
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (b) => new Uint8Array(lz4.decompress(b)) });
compressionRegistry.set(CompressionType.ZSTD, { decode: (b) => new Uint8Array(fzstd.decompress(b)) });

function tables(dir, kind) {
  return fs.readdirSync(dir)
    .filter((name) => name.startsWith(kind + '-') && name.endsWith('.arrow'))
    .map((name) => arrow.tableFromIPC(fs.readFileSync(path.join(dir, name))));
}

const dir = process.argv[2];
const result = { rows: {}, nulls: {}, metadata: {} };
for (const kind of ['sends', 'writes', 'settlements', 'deliveries', 'acks', 'connections', 'self']) {
  const ts = tables(dir, kind);
  if (ts.length === 0) continue; // a kind that the program did not record yet
  result.rows[kind] = ts.reduce((n, t) => n + t.numRows, 0);
  result.nulls[kind] = ts.reduce((n, t) => n + t.batches.reduce((m, b) => m + b.data.children.reduce((k, c) => k + c.nullCount, 0), 0), 0);
  result.metadata[kind] = Object.fromEntries(ts[0].schema.metadata);
}

// Service latency of a confirm: the settlement's time less the time when the message was sent, joined by producer and
// sequence. All arithmetic on times is in BigInt: nanoseconds since 1970 do not fit a number.
const sent = new Map();
for (const t of tables(dir, 'sends')) {
  for (const row of t) {
    if (row.sent_ns !== null) sent.set(row.producer + ' ' + row.seq, row.sent_ns);
  }
}
const latencies = [];
for (const t of tables(dir, 'settlements')) {
  for (const row of t) {
    if (row.kind === 1) latencies.push(row.at_ns - sent.get(row.producer + ' ' + row.seq));
  }
}
latencies.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const rank = (p) => latencies[Math.ceil(latencies.length * p / 100) - 1]; // nearest rank
result.confirm_service_latency = {
  count: latencies.length, p50_ns: String(rank(50)), p99_ns: String(rank(99)), max_ns: String(rank(100)),
};

result.texts = tables(dir, 'connections').flatMap((t) => Array.from(t, (row) => row.text));
console.log(JSON.stringify(result));

// Does with DuckDB what leveret analyze does with a run, as far as SQL has it in one statement: joins sends, confirms and
// deliveries by message, searches for what is missing and what came twice, and takes exact percentiles.
//
//	node beside.js DIR TMP
//
// DIR has sends.parquet, settlements.parquet and deliveries.parquet of leveret export. Prints JSON: the figures, and the
// seconds that the statement took.

const { DuckDBInstance } = require('@duckdb/node-api');

const [dir, tmp] = process.argv.slice(2);

const statement = `
WITH answered AS (SELECT producer, seq, at_ns FROM read_parquet('${dir}/settlements.parquet') WHERE kind = 'ack'),
  delivered AS (SELECT producer, seq, queue, min(received_ns) AS first_ns, count(*) AS times
    FROM read_parquet('${dir}/deliveries.parquet') WHERE body = 'intact' GROUP BY producer, seq, queue),
  joined AS (SELECT s.sent_ns, a.at_ns, d.first_ns, d.times
    FROM read_parquet('${dir}/sends.parquet') s LEFT JOIN answered a USING (producer, seq) LEFT JOIN delivered d USING (producer, seq))
SELECT count(*) AS messages, count(*) FILTER (at_ns IS NULL) AS unconfirmed, count(*) FILTER (times IS NULL) AS missing,
  coalesce(sum(times - 1), 0)::BIGINT AS duplicates,
  quantile_disc(at_ns - sent_ns, [0.5, 0.99, 0.999]) AS confirm, max(at_ns - sent_ns) AS confirm_max,
  quantile_disc(first_ns - sent_ns, [0.5, 0.99, 0.999]) AS delivery, max(first_ns - sent_ns) AS delivery_max
FROM joined`;

async function main() {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2', temp_directory: tmp })).connect();
  const begun = process.hrtime.bigint();
  const row = (await connection.runAndReadAll(statement)).getRowObjects()[0];
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  const items = (list) => list.items.map(String);
  console.log(JSON.stringify({ seconds, missing: Number(row.missing), duplicates: Number(row.duplicates), unconfirmed: Number(row.unconfirmed),
    confirm: [...items(row.confirm), String(row.confirm_max)], delivery: [...items(row.delivery), String(row.delivery_max)] }));
}

main().catch((err) => { console.error(err); process.exit(1); });

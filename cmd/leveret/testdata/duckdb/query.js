// Prints the first row of each query as JSON, numbers as strings: node query.js SQL...
const { DuckDBInstance } = require('@duckdb/node-api');

async function main() {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const sql of process.argv.slice(2)) {
    const row = (await connection.runAndReadAll(sql)).getRowObjects()[0];
    console.log(JSON.stringify(Object.values(row), (key, v) => (typeof v === 'bigint' ? String(v) : v)));
  }
}

main().catch((err) => { console.error(err); process.exit(1); });

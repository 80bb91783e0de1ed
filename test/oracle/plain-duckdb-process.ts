import { DuckDBInstance } from '@duckdb/node-api';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { hasUnsoundWindows, unsoundOptimizers, windowMode } from '#shared/sql/unsound-optimizers.ts';
import type { EngineAnswer } from '#test/slt/engine.ts';

/** A process that answers one request at a time with plain DuckDB, and ends with its parent. */
export type PlainRequest =
  | { readonly kind: 'setup'; readonly statements: readonly string[] }
  | { readonly kind: 'ask'; readonly sql: string; readonly schema: string; readonly rowsMax: number };
export type PlainAnswer = EngineAnswer;

const TEXT_TYPES = /GEOMETRY(?:\('[^']*'\))?|VARIANT|TIME WITH TIME ZONE/g;
const MENTIONED = /GEOMETRY|VARIANT|TIMETZ|TIME WITH TIME ZONE/i;
const TIMEOUT_MS = 5_000;

const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '4GB' });
const connection = await instance.connect();
const engine = new DuckdbEngine(connection);

async function answer(request: PlainRequest): Promise<PlainAnswer> {
  if (request.kind === 'setup') {
    await connection.run("SET TimeZone = 'UTC'");
    for (const sql of request.statements) await connection.run(sql);
    return { kind: 'rows', columns: [], rows: [] };
  }
  const timer = setTimeout(() => connection.interrupt(), TIMEOUT_MS);
  try {
    await connection.run(`USE ${request.schema}`);
    await connection.run(`SET disabled_optimizers = '${soundly(request.sql)}'`);
    await connection.run(`SET debug_window_mode = '${windowMode(hasUnsoundWindows(request.sql))}'`);
    return await ask(request.sql, request.rowsMax);
  } finally {
    clearTimeout(timer);
  }
}

/** The optimizers that are off, because DuckDB's answer would be wrong: what is compared with it is right. */
const soundly = (sql: string): string =>
  [
    ...unsoundOptimizers({ sql, process: 'worker', mentions: Infinity }),
    ...(/date_?trunc/i.test(sql) ? ['expression_rewriter'] : []),
  ].join(',');

/** For some types the library has value classes, where a client of Skein gets text. */
async function ask(sql: string, rowsMax: number): Promise<EngineAnswer> {
  const plain = await engine.run(sql, rowsMax);
  if (plain.kind === 'error' || !MENTIONED.test(sql)) return plain;
  const types = await engine.run(`DESCRIBE ${sql}`);
  if (types.kind === 'error') return plain;
  const columns = types.rows.map(([, type], at) => {
    if (typeof type !== 'string') throw new Error('DESCRIBE gives a type for each column');
    const shown = type.replaceAll(TEXT_TYPES, 'VARCHAR');
    return shown === type ? `#${at + 1}` : `#${at + 1}::${shown}`;
  });
  return engine.run(`SELECT ${columns.join(', ')} FROM (${sql})`, rowsMax);
}

process.on('message', (request: PlainRequest) => {
  answer(request).then(
    (value) => process.send?.(value),
    (error: unknown) => process.send?.({ kind: 'error', sqlState: null, message: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

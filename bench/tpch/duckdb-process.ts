import { availableParallelism } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';

/** The peer: one plain DuckDB in a process of its own, as many threads as cores. Answers `{sql}` with its time and row count. */
export type PeerRequest = { readonly sql: string };
export type PeerAnswer = { readonly elapsedMs: number; readonly rows: number; readonly error?: string };

const instance = await DuckDBInstance.create(':memory:', {
  threads: String(availableParallelism()),
  ...(process.argv.includes('--unsigned') ? { allow_unsigned_extensions: 'true' } : {}),
});
const connection = await instance.connect();

process.on('message', (request: PeerRequest) => void answer(request));

async function answer({ sql }: PeerRequest): Promise<void> {
  const started = performance.now();
  try {
    const result = await connection.runAndReadAll(sql);
    const rows = result.getRowsJson().length;
    process.send?.({ elapsedMs: performance.now() - started, rows } satisfies PeerAnswer);
  } catch (error) {
    process.send?.({ elapsedMs: 0, rows: 0, error: String(error) } satisfies PeerAnswer);
  }
}

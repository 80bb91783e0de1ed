import { availableParallelism } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';

/** One plain DuckDB, as many threads as cores, and a connection for each client: all queries run at once. */
export type ServerRequest = { readonly id: number; readonly client: number; readonly sql: string };
export type ServerAnswer = { readonly id: number; readonly error?: string };

const instance = await DuckDBInstance.create(':memory:', { threads: String(availableParallelism()) });
const connections = new Map<number, ReturnType<typeof instance.connect>>();

process.on('message', (request: ServerRequest) => void answer(request));

async function answer({ id, client, sql }: ServerRequest): Promise<void> {
  try {
    const connection = connections.get(client) ?? instance.connect();
    connections.set(client, connection);
    (await (await connection).runAndReadAll(sql)).getRowsJson();
    process.send?.({ id } satisfies ServerAnswer);
  } catch (error) {
    process.send?.({ id, error: String(error) } satisfies ServerAnswer);
  }
}

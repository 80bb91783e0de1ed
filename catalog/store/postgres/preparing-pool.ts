import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Pool, PoolClient } from 'pg';

/** Texts that get a name; the catalog has fewer, and a connection keeps each that it has seen. */
const STATEMENTS_MAX = 500;

/**
 * The pool as kysely takes it, with a name for every statement that has parameters: Postgres parses and plans it once per connection.
 * Without that the plan of a table's look-up costs three times its execution.
 */
export function preparingPool(pool: Pool): PostgresPool {
  const names = new Map<string, string>();
  const clients = new WeakMap<PoolClient, PostgresPoolClient>();
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
    const name = `k${names.size}`;
    names.set(text, name);
    return name;
  };
  const prepare = (client: PoolClient): PostgresPoolClient => {
    const query = (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<never>> => {
      const name = values.length === 0 ? undefined : nameOf(text);
      const sent = client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
      return sent as unknown as Promise<PostgresQueryResult<never>>;
    };
    return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release() };
  };
  return {
    async connect() {
      const client = await pool.connect();
      const prepared = clients.get(client) ?? prepare(client);
      clients.set(client, prepared);
      return prepared;
    },
    end: () => pool.end(),
  };
}

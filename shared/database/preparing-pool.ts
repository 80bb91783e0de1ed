import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Pool, PoolClient } from 'pg';

/** Maximum number of statement texts that get a name. A service has fewer; a connection keeps every one that it has prepared. */
const STATEMENTS_MAX = 500;

/**
 * Wraps the pool for kysely and names every statement that has parameters, so that Postgres parses and plans it once per connection.
 * Otherwise planning a table look-up costs three times its execution.
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

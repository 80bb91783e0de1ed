import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A Postgres server as one connection has found it. */
export type PostgresFacts = {
  readonly version: number;
  readonly connectionsMax: number;
  readonly isEncrypted: boolean;
  /** Its clock, and this process's in the middle of the request. */
  readonly nowMs: number;
  readonly ownNowMs: number;
};

type Row = {
  readonly version: string;
  readonly connections: string;
  readonly encrypted: boolean | null;
  readonly now_ms: string;
};

/** Connects once. @throws when Postgres does not answer within `timeoutMs`, or refuses */
export async function probePostgres(url: string, timeoutMs: number): Promise<PostgresFacts> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs });
  // A connection that breaks later says so here, too; without a handler the process would end.
  client.on('error', () => undefined);
  const done = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: done.signal }).then(() => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
  late.catch(() => undefined);
  const ask = async (): Promise<PostgresFacts> => {
    await client.connect();
    const askedMs = Date.now();
    const { rows } = await client.query<Row>(
      `select current_setting('server_version_num') as version, current_setting('max_connections') as connections,
         (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as encrypted,
         extract(epoch from clock_timestamp()) * 1000 as now_ms`,
    );
    const ownNowMs = (askedMs + Date.now()) / 2;
    const [row] = rows;
    if (row === undefined) throw new Error('no row');
    return {
      version: Math.floor(Number(row.version) / 10_000),
      connectionsMax: Number(row.connections),
      isEncrypted: row.encrypted === true,
      nowMs: Number(row.now_ms),
      ownNowMs,
    };
  };
  const asked = ask();
  asked.catch(() => undefined);
  try {
    return await Promise.race([asked, late]);
  } finally {
    done.abort();
    client.end().catch(() => undefined);
  }
}

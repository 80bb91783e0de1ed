import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Candidate, LeadProof } from '#shared/membership/election.ts';

type Options = {
  readonly url: string;
  /** This coordinator. */
  readonly candidate: Candidate;
  readonly ttlMs: number;
};

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The lease on the lead in Postgres, as the coordinator of one process holds it: a row with an epoch that grows whenever another one takes
 * it. Its time goes by Postgres's clock. It has a connection of its own, which is given up when it does not answer.
 */
export class LeadLease implements LeadProof {
  readonly #options: Options;
  #client: pg.Client | undefined;
  #epoch = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The epoch of the term that began when it was last taken. */
  get epoch(): number {
    return this.#epoch;
  }

  async take(force: boolean): Promise<boolean> {
    const { candidate, ttlMs } = this.#options;
    // Waits for the commits of the term before: they have a lock on its epoch (`termGoesOn`, `catalog/store/postgres/coordinator-term.ts`).
    const rows = await this.#ask<{ epoch: string }>(
      `insert into coordinator.lead (epoch, holder, url, until)
       values (nextval('coordinator.epoch'), $1, $2, clock_timestamp() + $3 * interval '1 millisecond')
       on conflict (id) do update set
         epoch = nextval('coordinator.epoch'), holder = excluded.holder, url = excluded.url, until = excluded.until
       where $4 or lead.until < clock_timestamp() or lead.holder = excluded.holder
       returning epoch`,
      [candidate.id, candidate.url, ttlMs, force],
    );
    const [row] = rows;
    if (row === undefined) return false;
    this.#epoch = Number(row.epoch);
    return true;
  }

  async renew(): Promise<boolean> {
    const rows = await this.#ask(
      `update coordinator.lead set until = clock_timestamp() + $2 * interval '1 millisecond' where epoch = $1 returning id`,
      [this.#epoch, this.#options.ttlMs],
    );
    return rows.length > 0;
  }

  async holder(): Promise<Candidate | undefined> {
    const rows = await this.#ask<Candidate>(
      `select holder as id, url from coordinator.lead where until >= clock_timestamp()`,
      [],
    );
    return rows[0];
  }

  async release(): Promise<void> {
    try {
      await this.#ask(`update coordinator.lead set until = '-infinity' where epoch = $1`, [this.#epoch]);
    } catch {
      // It ends by itself.
    }
    this.#drop();
  }

  async #ask<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const timeout = new AbortController();
    const late = sleep(this.#options.ttlMs, undefined, { signal: timeout.signal }).then(() => {
      throw new Error('Postgres does not answer in time');
    });
    late.catch(() => undefined);
    try {
      const asked = this.#connected().then((client) => client.query<Row>(text, [...values]));
      asked.catch(() => undefined);
      return (await Promise.race([asked, late])).rows;
    } catch (error) {
      this.#drop();
      throw error;
    } finally {
      timeout.abort();
    }
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => {
      if (this.#client === client) this.#client = undefined;
    });
    this.#client = client;
    await client.connect();
    return client;
  }

  /** Does not wait for an answer: there may be none. */
  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
  }
}

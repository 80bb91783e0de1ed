import { sql, type Kysely } from 'kysely';
import type { Logger } from '#shared/log/logger.ts';
import type { HistoryDatabase } from './history-database.ts';

type Options = {
  readonly db: Kysely<HistoryDatabase>;
  /** Room that all profiles take in Postgres, with their indexes. */
  readonly bytesMax: number;
  readonly retentionMs: number;
  readonly nowMs: () => number;
  readonly log: Logger;
};

const INTERVAL_MS = 10_000;
/** A segment ends at this part of the room, or of the retention: so much goes at once. */
const SEGMENTS = 8;
/** A statement that reads long holds a lock on the profiles; who waits for it stops the writer of the history. */
const LOCK_TIMEOUT = '2s';

type Segment = { readonly segment: number; readonly begunAtMs: number; readonly bytes: number };

/**
 * Keeps the profiles of queries within their room and their retention: they are stored in the newest segment, and the oldest segments are
 * dropped. Nothing is deleted row by row.
 */
export class ProfileSegments implements Disposable {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Looks at the segments now and every ten seconds. What fails is logged, and tried again. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#keep(), INTERVAL_MS);
    this.#timer.unref();
    await this.#keep();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #keep(): Promise<void> {
    const { db, bytesMax, retentionMs, nowMs, log } = this.#options;
    try {
      const segments = await segmentsOf(db);
      const newest = segments.at(-1);
      if (newest === undefined) return;
      const ageMs = nowMs() - newest.begunAtMs;
      if (newest.bytes >= bytesMax / SEGMENTS || ageMs >= retentionMs / SEGMENTS) {
        await beginSegment(db, newest.segment + 1, new Date(nowMs()));
      }
      let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
      for (const [i, { segment, bytes: freed }] of segments.slice(0, -1).entries()) {
        const endedAtMs = segments[i + 1]?.begunAtMs ?? nowMs();
        if (bytes <= bytesMax && endedAtMs > nowMs() - retentionMs) break;
        await dropSegment(db, segment);
        bytes -= freed;
        if (endedAtMs > nowMs() - retentionMs) log.info({ bytes: freed }, 'the oldest profiles of queries are dropped');
      }
    } catch (error) {
      log.warn({ err: error }, 'the profiles of queries cannot be kept within their room; it is tried again');
    }
  }
}

/** The oldest first. */
async function segmentsOf(db: Kysely<HistoryDatabase>): Promise<readonly Segment[]> {
  const { rows } = await sql<{ segment: number; begun_at: Date; bytes: string }>`
    select segment, begun_at, pg_total_relation_size(('coordinator.query_profiles_' || segment)::regclass) as bytes
    from coordinator.profile_segments order by segment`.execute(db);
  return rows.map(({ segment, begun_at: begunAt, bytes }) => ({
    segment,
    begunAtMs: begunAt.getTime(),
    bytes: Number(bytes),
  }));
}

const tableOf = (segment: number): ReturnType<typeof sql.id> => sql.id('coordinator', `query_profiles_${segment}`);

const inTransaction = (db: Kysely<HistoryDatabase>, ...statements: readonly ReturnType<typeof sql>[]): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(transaction);
    for (const statement of statements) await statement.execute(transaction);
  });

const beginSegment = (db: Kysely<HistoryDatabase>, segment: number, begunAt: Date): Promise<void> =>
  inTransaction(
    db,
    sql`create table ${tableOf(segment)} partition of coordinator.query_profiles for values in (${sql.lit(segment)})`,
    sql`insert into coordinator.profile_segments values (${segment}, ${begunAt})`,
  );

const dropSegment = (db: Kysely<HistoryDatabase>, segment: number): Promise<void> =>
  inTransaction(
    db,
    sql`delete from coordinator.profile_segments where segment = ${segment}`,
    sql`drop table ${tableOf(segment)}`,
  );

import type { Kysely } from 'kysely';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Election } from '#shared/membership/election.ts';
import type { ActiveTerm } from './active-term.ts';
import { beginEnding, endTerm } from './history/ending-terms.ts';
import type { HistoryDatabase } from './history/history-database.ts';
import { startTerm, type TermParts } from './start-term.ts';

/** Serves queries until the lead is lost. */
export async function lead(parts: TermParts, active: ActiveTerm, started: () => void): Promise<void> {
  const { epoch, lost } = parts;
  await using ended = new AsyncDisposableStack();
  // After all else of the term.
  ended.defer(() => endTerm(parts.database, epoch).catch(() => undefined));
  const term = ended.use(await startTerm(parts));
  active.term = term;
  parts.log.info({ epoch }, 'this coordinator is active');
  started();
  if (!lost.aborted) {
    await new Promise((resolve) => {
      lost.addEventListener('abort', resolve, { once: true });
    });
  }
  active.term = undefined;
  parts.log.info({ epoch, reason: SkeinError.of(lost.reason).message }, 'this coordinator is no longer active');
  term.registry.cancelAll(SkeinError.of(lost.reason));
  await term.registry.empty(QUERIES_END_MS);
}

/** Time that cancelled queries have to tell their workers and clients, before the links to the workers are cut. */
const QUERIES_END_MS = 1_500;

type Handing = {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Kysely<HistoryDatabase>;
  readonly active: ActiveTerm;
  readonly election: Election;
};

/**
 * Has another coordinator lead, and waits until the statements of this one have ended, for `coordinator.drain_timeout` at most; `close`
 * ends the others. New statements are refused from the beginning.
 */
export async function handOver({ config, log, database, active, election }: Handing): Promise<void> {
  const { term } = active;
  active.close();
  const drainMs = config['coordinator.drain_timeout'];
  if (term !== undefined) {
    try {
      await beginEnding(database, term.epoch, drainMs + ENDING_MS);
    } catch (error) {
      // The next one would end what runs here: it is ended here, where its clients hear of it.
      log.warn({ err: error }, 'Postgres does not answer: the statements that run are ended');
      return;
    }
    term.pool.handOver();
  }
  await election.handOver();
  await active.idle(AbortSignal.timeout(drainMs));
}

/** Time in which a term ends after its statements. */
const ENDING_MS = 15_000;

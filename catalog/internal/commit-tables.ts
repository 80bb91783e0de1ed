import { createHash } from 'node:crypto';
import type { AbandonCommitRequest } from '#proto/generated/skein/catalog/v1/AbandonCommitRequest.ts';
import type { CommitTablesRequest } from '#proto/generated/skein/catalog/v1/CommitTablesRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError, type ErrorData } from '#shared/error.ts';
import type { CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import { timeOfUuidV7 } from '#shared/uuid-v7.ts';
import { commitTables as commit } from '../commit/commit-tables.ts';
import { tableChanges, multiTableCommitOfBytes } from '../commit/multi-table-commit.ts';
import { viewUnit } from '../commit/view/view-change.ts';
import type { CatalogContext } from '../context.ts';
import { runOnce } from '../rest/run-once.ts';
import type { Answer } from '../rest/rest-operation.ts';
import { findUse, insertUse, type KeyUse } from '../store/postgres/idempotency-store.ts';
import { transact, type UnitOfWork } from '../store/postgres/transact.ts';

/**
 * Commits of the coordinator and of `skein load`. A commit has a key: sent again under its key, as after a lost answer, it is the same
 * commit. `abandonCommit` closes a key, so that the files of a commit that did not happen may be deleted.
 *
 *   time of the key                  + catalog.idempotency_lifetime
 *   |------ the key is open ---------|------ closed by its age ------>
 *         commit |------- its outcome is kept ------|
 *
 * A UUID of version 7 holds the time at which it was made. The outcome is kept for the same lifetime from the commit on, so a key whose
 * outcome is forgotten is closed by its age.
 */

/** The clocks of the cluster's processes differ by no more than this. */
const CLOCK_DIFFERENCE_MAX_MS = 60_000;

/**
 * Commits to several tables at once, and once per key. Tables that it creates belong to the principal. A materialized view may be made or
 * changed with its table.
 * @throws KEY_REUSED for an abandoned key or another transaction under a used one, QUEUE_FULL, NOT_ACTIVE when the term of the coordinator is
 * over, and the errors of the commit
 */
export async function commitTablesCall(
  context: CatalogContext,
  { key, transaction, term }: CommitTablesRequest,
  principal: Principal,
): Promise<Record<string, never>> {
  if (!isOpen(context, key)) {
    throw new SkeinError('INVALID_REQUEST', 'the key of the commit is older than catalog.idempotency_lifetime');
  }
  const answer = await runOnce(context, {
    use: useOf(key, principal),
    requestHash: createHash('sha256').update(transaction).digest(),
    expiresAt: outcomeExpiry(context),
    term,
    run: async (unit) => {
      const read = await multiTableCommitOfBytes(context.readers, transaction, principal.tenant);
      const withView = await viewUnit(context, keeping(unit), read.view, principal);
      await commit(context, withView, tableChanges(read, principal, { mayLoad: true }));
      return COMMITTED;
    },
    replay: () => Promise.resolve(COMMITTED),
    printError: (error) => ({ status: error.entry.http, text: JSON.stringify(error.toData()) }),
  });
  if (answer.status === COMMITTED.status) return {};
  throw SkeinError.fromData(JSON.parse(answer.text ?? '') as ErrorData);
}

const COMMITTED: Answer = { status: 200, text: '' };

/** Keeps the answer in the transaction of the change, which spares a second one. */
const keeping = (unit: UnitOfWork): UnitOfWork => ({ transact: (work) => unit.transact(work, () => '') });

/**
 * Answers whether the commit of a key happened; from then on it cannot happen. A commit that is running is waited for. `FORGOTTEN` says
 * that it cannot happen any more, and that whether it did is no longer known.
 */
export async function abandonCommit(
  context: CatalogContext,
  { key }: AbandonCommitRequest,
  principal: Principal,
): Promise<{ readonly outcome: CommitOutcome }> {
  const wasOpen = isOpen(context, key);
  const use = useOf(key, principal);
  const now = new Date(context.clock.nowMs());
  const { db } = context.store;
  const row = { ...ABANDONED, now, expiresAt: outcomeExpiry(context) };
  const isNew = await transact(db, (tx) => insertUse(tx, use, row));
  if (isNew) return { outcome: wasOpen ? 'NOT_COMMITTED' : 'FORGOTTEN' };
  const used = await findUse(db, use, now);
  if (used === undefined) return { outcome: 'FORGOTTEN' };
  const isCommitted = used.status === null || used.status === COMMITTED.status;
  if (!isCommitted) return { outcome: 'NOT_COMMITTED' };
  await context.store.settle();
  return { outcome: 'COMMITTED' };
}

/** The row of an abandoned key. No request has its hash, so a commit that comes late is refused as one of another request. */
const ABANDONED = { requestHash: Buffer.alloc(0), status: 409, etag: null, body: null };

const useOf = (key: string, { sub }: Principal): KeyUse => ({
  principal: sub,
  // The tables may belong to several catalogs.
  catalog: '',
  key,
  operation: 'CommitTables',
});

/** Whether a key is young enough to commit. @throws INVALID_REQUEST when it is no UUID of version 7, or of the future */
function isOpen({ config, clock }: CatalogContext, key: string): boolean {
  const madeMs = timeOfUuidV7(key);
  const nowMs = clock.nowMs();
  if (madeMs === undefined || madeMs > nowMs + CLOCK_DIFFERENCE_MAX_MS) {
    throw new SkeinError('INVALID_REQUEST', 'the key of a commit is a UUID of version 7, made when the commit began');
  }
  return madeMs + config['catalog.idempotency_lifetime'] > nowMs;
}

/** An outcome is kept for as long as a key made now, by whichever clock, stays open. */
const outcomeExpiry = ({ config, clock }: CatalogContext): Date =>
  new Date(clock.nowMs() + config['catalog.idempotency_lifetime'] + CLOCK_DIFFERENCE_MAX_MS);

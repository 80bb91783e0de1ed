import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { requireCatalog, type CatalogRow } from '../store/postgres/catalog-store.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { displayIdent, findTable, requireTable } from '../store/postgres/table-store.ts';
import { aboutSource, type CommitSource } from './commit-source.ts';
import { CREATED_METADATA, type CreateInput } from './created-metadata.ts';
import { newCreation, type CommittedTable, type TableTarget } from './creation.ts';
import { runDocumentTask, type DocumentOwner } from './document-task.ts';
import type { Creation } from './new-table.ts';
import { runSteps, type Step, type Written } from './run-steps.ts';
import { CHECK_REQUIREMENTS, SWAP_METADATA } from './swap-metadata.ts';
import type { UnitOfWork } from '../store/postgres/transact.ts';

/**
 * Commits, to one table or to several at once. Each attempt reads the tables, makes the new metadata (pure), then moves all pointers in one
 * transaction (compare-and-swap) and writes the metadata files before it ends: all of it happens or nothing.
 */

/** What a commit asks of one table. */
export type TableChange = { readonly target: TableTarget; readonly source: CommitSource };

/** Metadata of all tables of one transaction, which is in memory at once: in times of `catalog.metadata_bytes_max`. */
const TRANSACTION_METADATA_MAX = 4;

/** Waits between attempts of a commit that lost: doubled from the first to the longest, of which a random part is slept. */
const RETRY_WAIT_FIRST_MS = 5;
const RETRY_WAIT_LONGEST_MS = 500;

/**
 * Commits all changes or none; the tables in the order of the changes. A commit that loses against another is applied anew to what the
 * other left, `catalog.commit_retries_max` times.
 * @throws COMMIT_CONFLICT, TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, INVALID_REQUEST
 */
export async function commitTables(
  context: CatalogContext,
  unit: UnitOfWork,
  changes: readonly TableChange[],
): Promise<readonly CommittedTable[]> {
  try {
    const keys = [...(await tableIds(context, changes))].sort();
    return await inTurn(context, keys, () => commitInTurn(context, unit, changes));
  } catch (error) {
    throw commitFailure(error);
  }
}

async function commitInTurn(
  context: CatalogContext,
  unit: UnitOfWork,
  changes: readonly TableChange[],
): Promise<readonly CommittedTable[]> {
  for (let attempt = 0; attempt <= context.config['catalog.commit_retries_max']; attempt += 1) {
    if (attempt > 0) await sleep(backoffMs(attempt));
    const steps: Step[] = [];
    for (const change of changes) steps.push(await planStep(context, change));
    if (await runSteps(context, unit, steps, 'commit')) {
      await removeDroppedFiles(context, steps);
      return steps.map(committed);
    }
    context.metrics.commitRetries.inc();
  }
  throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: other commits kept coming first');
}

/**
 * Clients take every 5xx of a commit for "it may have happened" and leave the new files and the table to the user. When we know that
 * nothing happened they get a conflict instead, which they may try again.
 */
export function commitFailure(thrown: unknown): unknown {
  const error = thrown instanceof Error ? toCatalogError(thrown) : undefined;
  if (error?.code !== 'CATALOG_UNAVAILABLE' && error?.code !== 'STORAGE_ERROR') return thrown;
  return new SkeinError('COMMIT_NOT_APPLIED', `Commit failed, nothing was changed: ${error.message}`, {
    cause: thrown,
  });
}

/** Metadata files that fell out of the log, where the table asks for it. The commit is through: a file that stays is only garbage. */
async function removeDroppedFiles(context: CatalogContext, steps: readonly Step[]): Promise<void> {
  const files = steps.flatMap((step) => (step.kind === 'swap' ? step.dropped : []));
  const results = await Promise.allSettled(files.map((file) => context.io.remove(file)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) context.log.warn({ err: failed.reason as unknown }, 'an old metadata file was not deleted');
}

/** Of the tables that are there already. @throws INVALID_REQUEST when their metadata together is too much for one transaction. */
async function tableIds(context: CatalogContext, changes: readonly TableChange[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const lengthMax = TRANSACTION_METADATA_MAX * context.config['catalog.metadata_bytes_max'];
  let length = 0;
  for (const { target, source } of changes) {
    if (source.creates) continue;
    const row = await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident);
    ids.add(row.id);
    length += row.metadata.length;
    if (length <= lengthMax) continue;
    throw new SkeinError(
      'INVALID_REQUEST',
      `the tables of a transaction have more than ${lengthMax} bytes of metadata`,
    );
  }
  return ids;
}

/** Takes the turns of all keys, in the one order that cannot lead to a deadlock. */
function inTurn<T>(context: CatalogContext, sortedKeys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [key, ...rest] = sortedKeys;
  return key === undefined ? work() : context.commits.run(key, () => inTurn(context, rest, work));
}

const backoffMs = (attempt: number): number =>
  Math.min(RETRY_WAIT_LONGEST_MS, RETRY_WAIT_FIRST_MS * 2 ** (attempt - 1)) * Math.random();

function planStep(context: CatalogContext, change: TableChange): Promise<Step> {
  return change.source.creates ? planInsert(context, change) : planSwap(context, change);
}

async function planSwap(context: CatalogContext, { target, source }: TableChange): Promise<Step> {
  const row = await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident);
  const { metadata, metadataLocation, version, roots } = row;
  const input = {
    metadata,
    metadataLocation,
    version,
    roots,
    source,
    nowMs: context.clock.nowMs(),
    uuid: randomUUID(),
    metadataBytesMax: context.config['catalog.metadata_bytes_max'],
  };
  const swapped = await runDocumentTask(
    context.readers,
    SWAP_METADATA,
    input,
    aboutSource(source, aboutTable(target, metadata)),
  );
  return swapped === null ? { kind: 'keep', done: row } : { kind: 'swap', row, ...swapped };
}

/** A document of a table, for whoever may have to hand it to a thread. */
export const aboutTable = ({ claims, ident }: TableTarget, metadata: string): DocumentOwner => ({
  bytes: metadata.length,
  owner: claims.tenant,
  what: `the metadata of ${displayIdent(ident)}`,
});

/** The end of a transaction that a staged create began. */
async function planInsert(context: CatalogContext, { target, source }: TableChange): Promise<Step> {
  const { db } = context.store;
  const existing = await findTable(db, target.claims.tenant, target.catalog, target.ident);
  if (existing !== undefined) {
    const input = { metadata: existing.metadata, source };
    const about = aboutSource(source, aboutTable(target, existing.metadata));
    await runDocumentTask(context.readers, CHECK_REQUIREMENTS, input, about);
  }
  const catalog = await requireCatalog(db, target.claims.tenant, target.catalog);
  const creation = await newCreation(context, target, catalog, undefined);
  const input = { source, ...createInput(context, catalog, creation) };
  const about = aboutSource(source, aboutTable(target, ''));
  return {
    kind: 'insert',
    catalog,
    target,
    ...(await runDocumentTask(context.readers, CREATED_METADATA, input, about)),
  };
}

/** All that a new table is made of but the request. */
export const createInput = (
  { config }: CatalogContext,
  { roots }: CatalogRow,
  creation: Creation,
): Omit<CreateInput<unknown>, 'source'> => ({
  creation,
  roots,
  uuid: randomUUID(),
  metadataBytesMax: config['catalog.metadata_bytes_max'],
});

/** A new table whose metadata is made already. @throws TABLE_EXISTS, SCHEMA_NOT_FOUND, INVALID_REQUEST */
export async function insertNewTable(
  context: CatalogContext,
  unit: UnitOfWork,
  place: { readonly catalog: CatalogRow; readonly target: TableTarget },
  made: Written,
): Promise<CommittedTable> {
  const step: Step = { kind: 'insert', ...place, ...made };
  await runSteps(context, unit, [step], 'create');
  return committed(step);
}

const committed = (step: Step): CommittedTable =>
  step.kind === 'keep' ? step.done : { metadataLocation: step.file, metadata: step.text };

import { untilFirst } from '#shared/retry.ts';
import { randomUUID } from 'node:crypto';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { LoadsChange } from '#shared/iceberg/stage-loads.ts';
import { requireOpenFiles } from '../authorization/policies.ts';
import type { CatalogContext } from '../context.ts';
import { requireCatalog, type CatalogRow } from '../store/postgres/catalog-store.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { displayIdent } from '../metadata/object-name.ts';
import {
  findTable,
  findTableHead,
  requireTable,
  requireTableHead,
  type ChangedTable,
} from '../store/postgres/table-store.ts';
import { aboutSource, type CommitSource } from '../metadata/commit-source.ts';
import { CREATED_METADATA, type CreateInput } from './created-metadata.ts';
import { newCreation, type CommittedTable, type TableTarget } from './creation.ts';
import { runDocumentTask, type DocumentOwner } from '../metadata/document-task.ts';
import type { Creation } from '../metadata/new-table.ts';
import { runSteps, type Step, type Written } from './run-steps.ts';
import { CHECK_REQUIREMENTS, SWAP_METADATA } from './swap-metadata.ts';
import type { UnitOfWork } from '../store/postgres/transact.ts';

/**
 * Commits to one or several tables. Each attempt reads the tables, computes the new metadata (a pure function), then moves all pointers by
 * compare-and-swap in one transaction and writes the metadata files before the transaction ends: either everything happens or nothing.
 */

/** The change that a commit makes to one table. */
export type TableChange = {
  readonly target: TableTarget;
  readonly source: CommitSource;
  /** The files of a stage whose rows it adds or takes away. */
  readonly loads?: LoadsChange;
  /** It holds only while the table's policies have this version. */
  readonly policyVersion?: string;
  /** A client of the REST API makes it (`requireOpenFiles`). */
  readonly isOfClient?: true;
};

/** Limit of the metadata of all tables of one transaction, which is in memory at once, as a multiple of `catalog.metadata_bytes_max`. */
const TRANSACTION_METADATA_MAX = 4;

/**
 * Backoff of a commit that lost a compare-and-swap: it doubles from the first wait to the longest; the commit sleeps a random part of it.
 */
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
    const { ids, bytes } = await tablesOf(context, changes);
    const tenant = must(changes[0], 'a commit changes a table').target.claims.tenant;
    return await inTurn(context, [...ids].sort(), () =>
      context.documents.run(tenant, bytes, () => commitInTurn(context, unit, changes)),
    );
  } catch (error) {
    throw commitFailure(error);
  }
}

async function commitInTurn(
  context: CatalogContext,
  unit: UnitOfWork,
  changes: readonly TableChange[],
): Promise<readonly CommittedTable[]> {
  const attempt = async (): Promise<readonly CommittedTable[] | undefined> => {
    const steps: Step[] = [];
    for (const change of changes) steps.push(await planStep(context, change));
    if (await runSteps(context, unit, steps, 'commit')) {
      await removeDroppedFiles(context, steps);
      return steps.map(committed);
    }
    context.metrics.commitRetries.inc();
    return undefined;
  };
  const attemptsMax = context.config['catalog.commit_retries_max'] + 1;
  const done = await untilFirst(attempt, { attemptsMax, pauseMs: backoffMs });
  if (done !== undefined) return done;
  throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: other commits kept coming first');
}

/** Errors of the stores that a commit needs, which are no one's fault and leave nothing behind. */
const NOT_APPLIED: ReadonlySet<ErrorCode> = new Set(['CATALOG_UNAVAILABLE', 'STORAGE_ERROR', 'STORAGE_FULL']);

/**
 * Maps the failure of a commit to the error that the client gets. On a 5xx clients assume that the commit may have happened, and leave the
 * new files and the table to the user. When the catalog knows that nothing happened it answers with a conflict instead, which clients may
 * retry.
 */
export function commitFailure(thrown: unknown): unknown {
  const error = thrown instanceof Error ? toCatalogError(thrown) : undefined;
  if (error === undefined || !NOT_APPLIED.has(error.code)) return thrown;
  return new SkeinError('COMMIT_NOT_APPLIED', `Commit failed, nothing was changed: ${error.message}`, {
    cause: thrown,
  });
}

/**
 * Deletes the metadata files that the commit dropped from the metadata log, where the table asks for it. The commit has succeeded already:
 * a file that cannot be deleted is garbage and only logged.
 */
async function removeDroppedFiles(context: CatalogContext, steps: readonly Step[]): Promise<void> {
  const files = steps.flatMap((step) => (step.kind === 'swap' ? step.dropped : []));
  const results = await Promise.allSettled(
    files.map(async (file) => (await context.storages.open(file)).remove([file])),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) context.log.warn({ err: failed.reason as unknown }, 'an old metadata file was not deleted');
}

/**
 * Returns the ids of the existing tables that the changes touch, and the size of all documents and large requests that they work on.
 * @throws INVALID_REQUEST when the metadata together is too large for one transaction
 */
async function tablesOf(
  context: CatalogContext,
  changes: readonly TableChange[],
): Promise<{ readonly ids: ReadonlySet<string>; readonly bytes: number }> {
  const ids = new Set<string>();
  const bytesMax = TRANSACTION_METADATA_MAX * context.config['catalog.metadata_bytes_max'];
  const { db } = context.store;
  let documentBytes = 0;
  let requestBytes = 0;
  for (const { target, source } of changes) {
    const { claims, catalog, ident } = target;
    requestBytes += 'bytes' in source ? source.bytes.length : 0;
    const head = source.creates
      ? await findTableHead(db, claims.tenant, catalog, ident)
      : await requireTableHead(db, claims.tenant, catalog, ident);
    if (head === undefined) continue;
    if (!source.creates) ids.add(head.id);
    documentBytes += head.metadataBytes;
    if (documentBytes <= bytesMax) continue;
    throw new SkeinError('INVALID_REQUEST', `the tables of a transaction have more than ${bytesMax} bytes of metadata`);
  }
  return { ids, bytes: documentBytes + requestBytes };
}

/** Runs `work` while it holds the queue of every key. Keys are taken in sorted order, which excludes deadlocks. */
function inTurn<T>(context: CatalogContext, sortedKeys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [key, ...rest] = sortedKeys;
  return key === undefined ? work() : context.commits.run(key, () => inTurn(context, rest, work));
}

const backoffMs = (attempt: number): number =>
  Math.min(RETRY_WAIT_LONGEST_MS, RETRY_WAIT_FIRST_MS * 2 ** (attempt - 1)) * Math.random();

async function planStep(context: CatalogContext, change: TableChange): Promise<Step> {
  if (change.source.creates) return planInsert(context, change);
  const { claims, catalog, ident } = change.target;
  const row = await requireTable(context.store.db, claims.tenant, catalog, ident);
  requireOpenFiles(row, { ...change, claims });
  return planSwap(context, change, row);
}

/** Plans the change of a table that is there. @throws COMMIT_CONFLICT, INVALID_REQUEST */
export async function planSwap(
  context: CatalogContext,
  { target, source, loads, policyVersion }: TableChange,
  row: ChangedTable,
): Promise<Extract<Step, { kind: 'keep' | 'swap' }>> {
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
  return swapped === null
    ? { kind: 'keep', done: row }
    : { kind: 'swap', row, loads, claims: target.claims, policyVersion, ...swapped };
}

/** Describes a table's metadata document for `runDocumentTask`. */
export const aboutTable = ({ claims, ident }: TableTarget, metadata: string): DocumentOwner => ({
  bytes: metadata.length,
  owner: claims.tenant,
  what: `the metadata of ${displayIdent(ident)}`,
});

/** Plans the commit that ends a staged create and inserts the table. @throws COMMIT_CONFLICT, INVALID_REQUEST */
export async function planInsert(
  context: CatalogContext,
  { target, source }: TableChange,
): Promise<Extract<Step, { kind: 'insert' }>> {
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

/** The input of a new table's metadata, except the request itself. */
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

/** Inserts a new table whose metadata is already computed. @throws TABLE_EXISTS, SCHEMA_NOT_FOUND, INVALID_REQUEST */
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

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { parseJson, printJson } from '#shared/json.ts';
import { FileNotFound } from '#shared/storage/file-io.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import type { CatalogContext } from '../context.ts';
import { checkLocations, metadataLocation } from '../storage/table-location.ts';
import { requireCatalog, type CatalogRow } from '../store/postgres/catalog-store.ts';
import { requireNamespace } from '../store/postgres/namespace-store.ts';
import {
  findTable,
  insertTable,
  locationTaken,
  lockLocations,
  requireTable,
  swapMetadata,
  type TableRow,
} from '../store/postgres/table-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { commitMetadata, isCreate, type CommitRequest } from './commit-metadata.ts';
import { newCreation, type CommittedTable, type TableTarget } from './creation.ts';
import { metadataOfUpdates } from './new-table.ts';
import { checkRequirement } from './requirement.ts';
import type { TableMetadata } from './table-metadata.ts';

/**
 * Commits, to one table or to several at once. Each attempt reads the tables, makes the new metadata (pure), then moves all pointers in one
 * transaction (compare-and-swap) and writes the metadata files before it ends: all of it happens or nothing.
 */

/** What a commit asks of one table. */
export type TableChange = { readonly target: TableTarget; readonly request: CommitRequest };

/** What one attempt does to one table. */
type Step =
  | { readonly kind: 'keep'; readonly done: CommittedTable }
  | ({ readonly kind: 'swap'; readonly row: TableRow } & Written)
  | ({ readonly kind: 'insert'; readonly catalog: CatalogRow; readonly target: TableTarget } & Written);
/** The new metadata and where it goes. */
type Written = {
  readonly text: string;
  readonly file: string;
  /** Of the table, normalised. */
  readonly location: string;
  /** The client chose the location, so it must be compared with those of all other tables. */
  readonly locationChosen: boolean;
};

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
  changes: readonly TableChange[],
): Promise<readonly CommittedTable[]> {
  const ids = await Promise.all(changes.map((change) => tableId(context, change)));
  const keys = [...new Set(ids.filter((id) => id !== undefined))].sort();
  return inTurn(context, keys, async () => {
    for (let attempt = 0; attempt <= context.config['catalog.commit_retries_max']; attempt += 1) {
      if (attempt > 0) await sleep(backoffMs(attempt));
      const steps: Step[] = [];
      for (const change of changes) steps.push(await planStep(context, change));
      if (await runSteps(context, steps)) return steps.map(committed);
      context.metrics.commitRetries.inc();
    }
    throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: other commits kept coming first');
  });
}

/** Undefined for a table that the change creates. */
async function tableId(context: CatalogContext, { target, request }: TableChange): Promise<string | undefined> {
  if (isCreate(request)) return undefined;
  return (await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident)).id;
}

/** Takes the turns of all keys, in the one order that cannot lead to a deadlock. */
function inTurn<T>(context: CatalogContext, sortedKeys: readonly string[], work: () => Promise<T>): Promise<T> {
  const [key, ...rest] = sortedKeys;
  return key === undefined ? work() : context.commits.run(key, () => inTurn(context, rest, work));
}

const backoffMs = (attempt: number): number =>
  Math.min(RETRY_WAIT_LONGEST_MS, RETRY_WAIT_FIRST_MS * 2 ** (attempt - 1)) * Math.random();

function planStep(context: CatalogContext, change: TableChange): Promise<Step> {
  return isCreate(change.request) ? planInsert(context, change) : planSwap(context, change);
}

async function planSwap(context: CatalogContext, { target, request }: TableChange): Promise<Step> {
  const row = await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident);
  const base = parseMetadata(row);
  const nowMs = context.clock.nowMs();
  const metadata = commitMetadata(base, request, { nowMs, metadataLocation: row.metadataLocation });
  if (metadata === base) return { kind: 'keep', done: row };
  checkLocations(metadata, base, row.root);
  const locationChosen = metadata.location !== base.location;
  return { kind: 'swap', row, ...written(context, metadata, { version: row.version + 1, locationChosen }) };
}

/** The end of a transaction that a staged create began. */
async function planInsert(context: CatalogContext, { target, request }: TableChange): Promise<Step> {
  const { db } = context.store;
  const existing = await findTable(db, target.claims.tenant, target.catalog, target.ident);
  if (existing !== undefined) {
    for (const requirement of request.requirements) checkRequirement(requirement, parseMetadata(existing));
  }
  const catalog = await requireCatalog(db, target.claims.tenant, target.catalog);
  const creation = newCreation(context, target, catalog, undefined);
  const metadata = metadataOfUpdates(request.updates, creation);
  checkLocations(metadata, undefined, catalog.location);
  const locationChosen = metadata.location !== creation.location;
  return { kind: 'insert', catalog, target, ...written(context, metadata, { version: 0, locationChosen }) };
}

const parseMetadata = (row: TableRow): TableMetadata => parseJson(row.metadata) as unknown as TableMetadata;

/** A new table whose metadata is made already: from a create request, or registered. @throws TABLE_EXISTS, SCHEMA_NOT_FOUND, INVALID_REQUEST */
export async function insertNewTable(
  context: CatalogContext,
  place: { readonly catalog: CatalogRow; readonly target: TableTarget },
  metadata: TableMetadata,
  locationChosen: boolean,
): Promise<CommittedTable> {
  const step: Step = { kind: 'insert', ...place, ...written(context, metadata, { version: 0, locationChosen }) };
  await runSteps(context, [step], 'create');
  return committed(step);
}

/** @throws INVALID_REQUEST when the metadata is larger than `catalog.metadata_bytes_max`. */
function written(
  context: CatalogContext,
  metadata: TableMetadata,
  { version, locationChosen }: { readonly version: number; readonly locationChosen: boolean },
): Written {
  return {
    text: printMetadata(context, metadata),
    file: metadataLocation(metadata, version, randomUUID()),
    location: normalizeLocation(metadata.location),
    locationChosen,
  };
}

/** @throws INVALID_REQUEST when it is larger than `catalog.metadata_bytes_max`. */
export function printMetadata(context: CatalogContext, metadata: TableMetadata): string {
  const text = printJson(metadata);
  const max = context.config['catalog.metadata_bytes_max'];
  if (Buffer.byteLength(text) > max) {
    throw new SkeinError('INVALID_REQUEST', `the table's metadata would be larger than ${max} bytes: expire snapshots`);
  }
  return text;
}

const committed = (step: Step): CommittedTable =>
  step.kind === 'keep' ? step.done : { metadataLocation: step.file, metadata: step.text };

/** Ends a transaction whose compare-and-swap failed. */
class LostRace extends Error {}

/**
 * All steps in one transaction; false when another commit came first. Locks are taken in one order (locations, then tables by id, then
 * new names), so commits over several tables do not deadlock; files are written when every row is ours.
 */
async function runSteps(
  context: CatalogContext,
  steps: readonly Step[],
  purpose: 'commit' | 'create' = 'commit',
): Promise<boolean> {
  const swaps = steps.filter((step) => step.kind === 'swap').sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const inserts = steps.filter((step) => step.kind === 'insert');
  if (swaps.length + inserts.length === 0) return true;
  try {
    await context.store.db.transaction().execute(async (tx) => {
      await lockForSteps(tx, [...swaps, ...inserts]);
      for (const step of swaps) {
        const next = { location: step.location, metadataLocation: step.file, metadata: step.text };
        if (!(await swapMetadata(tx, step.row, next))) throw new LostRace();
        if (step.locationChosen) await requireFree(tx, step.row.catalogId, step.location, step.row.id);
      }
      for (const step of inserts) await runInsert(tx, step, purpose);
      await writeFiles(context, [...swaps, ...inserts]);
    });
    return true;
  } catch (error) {
    if (error instanceof LostRace) return false;
    throw error;
  }
}

type WritingStep = Exclude<Step, { kind: 'keep' }>;

async function lockForSteps(tx: Tx, steps: readonly WritingStep[]): Promise<void> {
  const needed = steps.filter((step) => step.kind === 'insert' || step.locationChosen);
  const [first] = needed;
  if (first === undefined) return;
  const catalogId = first.kind === 'insert' ? first.catalog.id : first.row.catalogId;
  await lockLocations(tx, catalogId, needed.some((step) => step.locationChosen) ? 'exclusive' : 'shared');
}

async function runInsert(tx: Tx, step: Extract<Step, { kind: 'insert' }>, purpose: 'commit' | 'create'): Promise<void> {
  const { catalog, target, location } = step;
  const namespace = await requireNamespace(tx, catalog.id, target.ident.namespace);
  const row = { catalogId: catalog.id, namespaceId: namespace.id, ident: target.ident, location };
  try {
    const id = await insertTable(tx, { ...row, metadataLocation: step.file, metadata: step.text });
    if (step.locationChosen) await requireFree(tx, catalog.id, location, id);
  } catch (error) {
    // Another one created it after we looked: for a commit that is a requirement that does not hold.
    const exists = error instanceof SkeinError && error.code === 'TABLE_EXISTS';
    if (exists && purpose === 'commit') {
      throw new SkeinError('COMMIT_CONFLICT', 'Requirement failed: table already exists', { cause: error });
    }
    throw error;
  }
}

/** @throws INVALID_REQUEST when another table lies at, above or below the location. */
export async function requireFree(
  tx: Tx,
  catalogId: string,
  location: string,
  ownId: string | undefined,
): Promise<void> {
  if (await locationTaken(tx, catalogId, normalizeLocation(location), ownId)) {
    throw new SkeinError('INVALID_REQUEST', `Location ${location} overlaps the location of another table`);
  }
}

/** All files or none: what was written before one failed is removed, because nothing can point to it. */
async function writeFiles(context: CatalogContext, steps: readonly WritingStep[]): Promise<void> {
  const results = await Promise.allSettled(steps.map(({ file, text }) => context.io.write(file, Buffer.from(text))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return;
  await Promise.allSettled(steps.map(({ file }) => context.io.remove(file)));
  const reason: unknown = failed.reason;
  // A folder that cannot be made is no "not found" of the client's.
  if (!(reason instanceof FileNotFound)) throw reason;
  throw new SkeinError('STORAGE_ERROR', `cannot write ${reason.uri}`, { cause: reason });
}

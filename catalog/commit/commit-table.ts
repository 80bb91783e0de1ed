import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { parseJson, printJson } from '#shared/json.ts';
import type { TokenClaims } from '#shared/token-claims.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import type { CatalogContext } from '../context.ts';
import {
  checkLocations,
  metadataLocation,
  newTableLocation,
  requireBelowRoot,
  withoutTrailingSlash,
} from '../storage/table-location.ts';
import { requireCatalog, type CatalogRow } from '../store/postgres/catalog-store.ts';
import { requireNamespace } from '../store/postgres/namespace-store.ts';
import {
  findTable,
  insertTable,
  locationTaken,
  lockLocations,
  requireTable,
  swapMetadata,
  tableExists,
  type TableIdent,
  type TableRow,
} from '../store/postgres/table-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { commitMetadata, isCreate, type CommitRequest } from './commit-metadata.ts';
import { metadataOfUpdates, newTableMetadata, type CreateTableRequest, type Creation } from './new-table.ts';
import { checkRequirement } from './requirement.ts';
import type { TableMetadata } from './table-metadata.ts';

/** Creating and committing: pure metadata, then one transaction that moves the table's pointer and writes the metadata file. */

/** A table as it stands after a create, a load or a commit. */
export type CommittedTable = {
  /** Undefined for a staged create, which writes nothing. */
  readonly metadataLocation: string | undefined;
  /** JSON text of the metadata. */
  readonly metadata: string;
};

/** Names a table for a caller of a tenant. */
export type TableTarget = { readonly claims: TokenClaims; readonly catalog: string; readonly ident: TableIdent };

/** Waits between attempts of a commit that lost: doubled from the first to the longest, of which a random part is slept. */
const RETRY_WAIT_FIRST_MS = 5;
const RETRY_WAIT_LONGEST_MS = 500;

/** @throws TABLE_EXISTS, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, INVALID_REQUEST */
export async function createTable(
  context: CatalogContext,
  target: TableTarget,
  request: CreateTableRequest,
): Promise<CommittedTable> {
  const { db } = context.store;
  const { ident } = target;
  const catalog = await requireCatalog(db, target.claims.tenant, target.catalog);
  if ((await findTable(db, target.claims.tenant, target.catalog, ident)) !== undefined) {
    throw tableExists(ident);
  }
  const creation = newCreation(context, target, catalog, request.location);
  const metadata = newTableMetadata(request, creation);
  checkLocations(metadata, undefined, catalog.location);
  if (!request.stageCreate) {
    return insert(context, { catalog, target, metadata, locationChosen: request.location !== undefined });
  }
  if (request.location !== undefined) await requireFree(db, catalog.id, creation.location, undefined);
  // Some clients write their first metadata or manifest without making its folder.
  await context.io.makeFolder(`${creation.location}/metadata`);
  return { metadataLocation: undefined, metadata: print(context, metadata) };
}

function newCreation(
  context: CatalogContext,
  target: TableTarget,
  catalog: CatalogRow,
  chosen: string | undefined,
): Creation {
  const uuid = randomUUID();
  if (chosen !== undefined) requireBelowRoot(chosen, catalog.location);
  return {
    uuid,
    location:
      chosen === undefined ? newTableLocation(catalog.location, target.ident, uuid) : withoutTrailingSlash(chosen),
    nowMs: context.clock.nowMs(),
    owner: target.claims.preferred_username,
  };
}

type Insertion = {
  readonly catalog: CatalogRow;
  readonly target: TableTarget;
  readonly metadata: TableMetadata;
  readonly locationChosen: boolean;
};

/** The row first: of creates that run at once, all but one fail there, before anything is written. */
async function insert(context: CatalogContext, insertion: Insertion): Promise<CommittedTable> {
  const { catalog, target, metadata, locationChosen } = insertion;
  const text = print(context, metadata);
  const file = metadataLocation(metadata, 0, randomUUID());
  const location = normalizeLocation(metadata.location);
  await context.store.db.transaction().execute(async (tx) => {
    const namespace = await requireNamespace(tx, catalog.id, target.ident.namespace);
    await lockLocations(tx, catalog.id, locationChosen ? 'exclusive' : 'shared');
    const row = { catalogId: catalog.id, namespaceId: namespace.id, ident: target.ident, location };
    const id = await insertTable(tx, { ...row, metadataLocation: file, metadata: text });
    if (locationChosen) await requireFree(tx, catalog.id, location, id);
    await context.io.write(file, Buffer.from(text));
  });
  return { metadataLocation: file, metadata: text };
}

/** @throws INVALID_REQUEST when another table lies at, above or below the location. */
async function requireFree(tx: Tx, catalogId: string, location: string, ownId: string | undefined): Promise<void> {
  if (await locationTaken(tx, catalogId, normalizeLocation(location), ownId)) {
    throw new SkeinError('INVALID_REQUEST', `Location ${location} overlaps the location of another table`);
  }
}

/**
 * Commits to a table, or creates the one that a transaction staged. A commit that loses against another is applied anew to what the other
 * left, `catalog.commit_retries_max` times.
 * @throws COMMIT_CONFLICT, TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, INVALID_REQUEST
 */
export async function commitTable(
  context: CatalogContext,
  target: TableTarget,
  request: CommitRequest,
): Promise<CommittedTable> {
  if (isCreate(request)) return createByCommit(context, target, request);
  const { db } = context.store;
  const { tenant } = target.claims;
  const retriesMax = context.config['catalog.commit_retries_max'];
  const { id } = await requireTable(db, tenant, target.catalog, target.ident);
  return context.commits.run(id, async () => {
    for (let attempt = 0; attempt <= retriesMax; attempt += 1) {
      if (attempt > 0) await sleep(backoffMs(attempt));
      const row = await requireTable(db, tenant, target.catalog, target.ident);
      const done = await tryCommit(context, row, request);
      if (done !== undefined) return done;
      context.metrics.commitRetries.inc();
    }
    throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: other commits to the table kept coming first');
  });
}

const backoffMs = (attempt: number): number =>
  Math.min(RETRY_WAIT_LONGEST_MS, RETRY_WAIT_FIRST_MS * 2 ** (attempt - 1)) * Math.random();

/** Undefined when another commit came first. */
async function tryCommit(
  context: CatalogContext,
  row: TableRow,
  request: CommitRequest,
): Promise<CommittedTable | undefined> {
  const base = parseJson(row.metadata) as unknown as TableMetadata;
  const metadata = commitMetadata(base, request, {
    nowMs: context.clock.nowMs(),
    metadataLocation: row.metadataLocation,
  });
  if (metadata === base) return row;
  checkLocations(metadata, base, row.root);
  const text = print(context, metadata);
  const file = metadataLocation(metadata, row.version + 1, randomUUID());
  const location = normalizeLocation(metadata.location);
  const moved = metadata.location !== base.location;
  const won = await context.store.db.transaction().execute(async (tx) => {
    if (moved) await lockLocations(tx, row.catalogId, 'exclusive');
    if (!(await swapMetadata(tx, row, { location, metadataLocation: file, metadata: text }))) return false;
    if (moved) await requireFree(tx, row.catalogId, location, row.id);
    await context.io.write(file, Buffer.from(text));
    return true;
  });
  return won ? { metadataLocation: file, metadata: text } : undefined;
}

async function createByCommit(
  context: CatalogContext,
  target: TableTarget,
  request: CommitRequest,
): Promise<CommittedTable> {
  const { db } = context.store;
  const catalog = await requireCatalog(db, target.claims.tenant, target.catalog);
  const existing = await findTable(db, target.claims.tenant, target.catalog, target.ident);
  if (existing !== undefined) {
    for (const requirement of request.requirements) {
      checkRequirement(requirement, parseJson(existing.metadata) as unknown as TableMetadata);
    }
  }
  const creation = newCreation(context, target, catalog, undefined);
  const metadata = metadataOfUpdates(request.updates, creation);
  checkLocations(metadata, undefined, catalog.location);
  try {
    return await insert(context, {
      catalog,
      target,
      metadata,
      locationChosen: metadata.location !== creation.location,
    });
  } catch (error) {
    // Another one created it after we looked: for a commit that is a requirement that does not hold.
    if (!(error instanceof SkeinError) || error.code !== 'TABLE_EXISTS') throw error;
    throw new SkeinError('COMMIT_CONFLICT', 'Requirement failed: table already exists');
  }
}

/** @throws INVALID_REQUEST when it is larger than `catalog.metadata_bytes_max`. */
function print(context: CatalogContext, metadata: TableMetadata): string {
  const text = printJson(metadata);
  const max = context.config['catalog.metadata_bytes_max'];
  if (Buffer.byteLength(text) > max) {
    throw new SkeinError('INVALID_REQUEST', `the table's metadata would be larger than ${max} bytes: expire snapshots`);
  }
  return text;
}

import { untilFirst } from '#shared/retry.ts';
import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { parseJson, printJson } from '#shared/json.ts';
import { FileNotFound } from '#shared/storage/storage.ts';
import type { CatalogContext } from '../../context.ts';
import {
  inTheWay,
  metadataLocation,
  newTableLocation,
  plainLocation,
  requireBelowRoot,
} from '../../storage/table-location.ts';
import { requireCatalog } from '../../store/postgres/catalog-store.ts';
import { holdCatalog } from '../../store/postgres/rename-catalog.ts';
import { holdNamespace, requireNamespace } from '../../store/postgres/namespace-store.ts';
import {
  findView,
  insertView,
  requireView,
  swapViewMetadata,
  viewExistsError,
  type StoragePlace,
  type ViewRow,
} from '../../store/postgres/view-store.ts';
import { commitFailure } from '../commit-tables.ts';
import type { TableTarget } from '../creation.ts';
import { commitViewMetadata, newViewMetadata } from '../../metadata/view/apply-view-updates.ts';
import { viewFacts, type RelationFacts } from '../../metadata/relation-facts.ts';
import { storagePlace } from './storage-place.ts';
import type { ViewMetadata } from '../../metadata/view/view-metadata.ts';
import type { CreateViewRequest, ViewCommit } from '../../metadata/view/view-request.ts';
import type { Tx } from '../../store/postgres/tables.ts';
import type { UnitOfWork } from '../../store/postgres/transact.ts';

/** Creates and replaces views: computes the metadata, then swaps the row by compare-and-swap and writes the file in one transaction. */

/** A view as it stands after a create, a load or a commit; `metadata` is JSON text. */
export type CommittedView = { readonly metadataLocation: string; readonly metadata: string };

/** Upper limit of the random wait between attempts of a commit that lost a compare-and-swap. */
const RETRY_WAIT_MS = 20;

/** A change of a view that is computed; `run` makes it in a transaction. */
export type PlannedView = {
  readonly view: CommittedView;
  readonly run: (tx: Tx, storage: StoragePlace | null) => Promise<void>;
  /** Looks for what stands in the way of the view's table. @throws as `storagePlace` */
  readonly storage: (tx: Tx) => Promise<StoragePlace | null>;
};

/** @throws ALREADY_EXISTS (a view or a table), SCHEMA_NOT_FOUND, INVALID_REQUEST, INVALID_VIEW */
export async function createView(
  context: CatalogContext,
  unit: UnitOfWork,
  target: TableTarget,
  request: CreateViewRequest,
): Promise<CommittedView> {
  const { view, storage, run } = await planNewView(context, target, request);
  await unit.transact(async (tx) => run(tx, await storage(tx)));
  return view;
}

/** @throws as `createView` */
export async function planNewView(
  context: CatalogContext,
  target: TableTarget,
  request: CreateViewRequest,
  uuid: string = randomUUID(),
): Promise<PlannedView> {
  const { db } = context.store;
  const { tenant } = target.claims;
  if ((await findView(db, tenant, target.catalog, target.ident)) !== undefined) throw viewExistsError(target.ident);
  const catalog = await requireCatalog(db, tenant, target.catalog);
  await requireNamespace(db, catalog.id, target.ident.namespace);
  const { location: chosen } = request;
  const location =
    chosen === undefined ? newTableLocation(catalog.location, target.ident, uuid) : plainLocation(chosen);
  const metadata = newViewMetadata(request, { uuid, location, nowMs: context.clock.nowMs() });
  checkViewLocations(metadata, undefined, catalog.roots);
  const view = written(context, metadata, 0);
  return {
    view,
    storage: (tx) => storagePlace(tx, catalog.id, { metadata }),
    run: async (tx, storage) => {
      await holdCatalog(tx, catalog);
      const namespace = await holdNamespace(tx, catalog.id, target.ident.namespace);
      await insertView(tx, { catalogId: catalog.id, namespaceId: namespace.id, ident: target.ident, ...view, storage });
      await writeFile(context, view).catch((error: unknown) => {
        throw chosen !== undefined && (error as Error).cause instanceof FileNotFound ? inTheWay(chosen, error) : error;
      });
    },
  };
}

/**
 * Applies a commit to the current view. When it loses against another commit it retries, `catalog.commit_retries_max` times.
 * @throws VIEW_NOT_FOUND, COMMIT_CONFLICT, INVALID_REQUEST, INVALID_VIEW
 */
export async function replaceView(
  context: CatalogContext,
  unit: UnitOfWork,
  target: TableTarget,
  commit: ViewCommit,
): Promise<CommittedView> {
  const { db } = context.store;
  const find = (): Promise<ViewRow> => requireView(db, target.claims.tenant, target.catalog, target.ident);
  try {
    const { id } = await find();
    return await context.commits.run(`view ${id}`, () => commitInTurn(context, unit, find, commit));
  } catch (error) {
    throw commitFailure(error);
  }
}

async function commitInTurn(
  context: CatalogContext,
  unit: UnitOfWork,
  find: () => Promise<ViewRow>,
  commit: ViewCommit,
): Promise<CommittedView> {
  const attempt = async (): Promise<CommittedView | undefined> => {
    const row = await find();
    const planned = planNextView(context, row, commit);
    if (planned === null) return row;
    if (await swap(unit, planned)) return planned.view;
    context.metrics.commitRetries.inc();
    return undefined;
  };
  const attemptsMax = context.config['catalog.commit_retries_max'] + 1;
  const done = await untilFirst(attempt, { attemptsMax, pauseMs: () => RETRY_WAIT_MS * Math.random() });
  if (done !== undefined) return done;
  throw new SkeinError('COMMIT_CONFLICT', 'Commit failed: other commits kept coming first');
}

/** The commit on top of the view as it was found; null when it changes nothing. `run` throws `LostRace` when another came first. */
export function planNextView(context: CatalogContext, row: ViewRow, commit: ViewCommit): PlannedView | null {
  const base = parseJson(row.metadata) as unknown as ViewMetadata;
  const metadata = commitViewMetadata(base, commit, context.clock.nowMs());
  if (metadata === base) return null;
  checkViewLocations(metadata, base, row.roots);
  const view = written(context, metadata, row.version + 1);
  return {
    view,
    storage: (tx) => storagePlace(tx, row.catalogId, { metadata, base }),
    run: async (tx, storage) => {
      if (!(await swapViewMetadata(tx, row, { ...view, storage }))) throw new LostRace();
      await writeFile(context, view);
    },
  };
}

/** A document for a view that says the same under other names (`withNewNames`). @throws INVALID_REQUEST when it is too large by then */
export const renamedView = (context: CatalogContext, row: ViewRow, metadata: ViewMetadata): WrittenView =>
  written(context, metadata, row.version + 1);

/** Gives it to the view, whose row the transaction has locked; its file is written by then. */
export async function putRenamed(tx: Tx, row: ViewRow, view: WrittenView): Promise<void> {
  if (!(await swapViewMetadata(tx, row, { ...view, storage: row.storage }))) throw new LostRace();
}

/** Swaps the row and writes the file; false when another commit came first. */
async function swap(unit: UnitOfWork, { storage, run }: PlannedView): Promise<boolean> {
  try {
    await unit.transact(async (tx) => run(tx, await storage(tx)));
    return true;
  } catch (error) {
    if (error instanceof LostRace) return false;
    throw error;
  }
}

/** Rolls a transaction back whose compare-and-swap failed. */
export class LostRace extends Error {}

/** A view's document, and the place of its file. */
export type WrittenView = CommittedView & { readonly location: string; readonly facts: RelationFacts };

function written(context: CatalogContext, metadata: ViewMetadata, version: number): WrittenView {
  return {
    location: metadata.location,
    metadataLocation: metadataLocation(metadata, version, randomUUID()),
    metadata: printViewMetadata(context, metadata),
    facts: viewFacts(metadata),
  };
}

/** Maximum size of a view's metadata: it is parsed on the main thread, which serves everybody. */
export const VIEW_BYTES_MAX = 4 * 2 ** 20;

/** @throws INVALID_REQUEST when it is larger than `VIEW_BYTES_MAX` or `catalog.metadata_bytes_max`. */
export function printViewMetadata(context: CatalogContext, metadata: ViewMetadata): string {
  const text = printJson(metadata);
  const max = Math.min(VIEW_BYTES_MAX, context.config['catalog.metadata_bytes_max']);
  if (Buffer.byteLength(text) > max) {
    throw new SkeinError('INVALID_REQUEST', `the view's metadata would be larger than ${max} bytes`);
  }
  return text;
}

/**
 * Checks that the location and metadata path of a view lie in the catalog's roots; what equals `base` was checked before.
 * @throws INVALID_REQUEST
 */
export function checkViewLocations(
  metadata: ViewMetadata,
  base: ViewMetadata | undefined,
  roots: readonly string[],
): void {
  if (metadata.location !== base?.location) requireBelowRoot(metadata.location, roots);
  const folder = metadata.properties['write.metadata.path'];
  if (folder !== undefined && folder !== base?.properties['write.metadata.path']) requireBelowRoot(folder, roots);
}

/** @throws STORAGE_ERROR, STORAGE_FULL */
export async function writeFile({ storages }: CatalogContext, view: WrittenView): Promise<void> {
  try {
    await (await storages.open(view.metadataLocation)).write(view.metadataLocation, Buffer.from(view.metadata));
  } catch (error) {
    // A folder that cannot be made is a storage error, not a "not found" for the client.
    if (!(error instanceof FileNotFound)) throw error;
    throw new SkeinError('STORAGE_ERROR', `cannot write ${view.metadataLocation}`, { cause: error });
  }
}

import { SkeinError } from '#shared/error.ts';
import type { LoadsChange } from '#shared/iceberg/stage-loads.ts';
import { FileNotFound } from '#shared/storage/storage.ts';
import { isExempt } from '../authorization/policies.ts';
import type { CatalogContext } from '../context.ts';
import type { RelationFacts } from '../metadata/relation-facts.ts';
import type { FieldChanges } from '../metadata/field-changes.ts';
import { requireKeptPolicies, requirePolicyVersion } from '../policy/protect-tables.ts';
import { inTheWay } from '../storage/table-location.ts';
import { claimFolders, lockLocations } from '../store/postgres/folder-claims.ts';
import type { CatalogRow } from '../store/postgres/catalog-store.ts';
import { holdNamespace } from '../store/postgres/namespace-store.ts';
import { changeLoads } from '../store/postgres/loaded-file-store.ts';
import { insertTable, swapMetadata, type ChangedTable } from '../store/postgres/table-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import type { CommittedTable, TableTarget } from './creation.ts';
import type { UnitOfWork } from '../store/postgres/transact.ts';

/** The effect of one attempt of a commit on one table. */
export type Step =
  | { readonly kind: 'keep'; readonly done: CommittedTable }
  | ({
      readonly kind: 'swap';
      readonly row: ChangedTable;
      readonly claims: TableTarget['claims'];
      readonly policyVersion: string | undefined;
      readonly changes: FieldChanges;
      /** Earlier metadata files that leave the metadata log, to be deleted after the commit. */
      readonly dropped: readonly string[];
      readonly loads: LoadsChange | undefined;
    } & Written)
  | ({ readonly kind: 'insert'; readonly catalog: CatalogRow; readonly target: TableTarget } & Written);

/** New metadata and the file and folders that it goes to. */
export type Written = {
  readonly text: string;
  readonly facts: RelationFacts;
  /** When to look whether something of the table has expired. */
  readonly expiresAt: Date | null;
  readonly file: string;
  /** The table's location, normalised. */
  readonly location: string;
  /** Folders that the table claims with this step. */
  readonly folders: readonly string[];
  /** True when the client chose one of the folders, so they must be compared with those of all other tables. */
  readonly chosen: boolean;
};
type WritingStep = Exclude<Step, { kind: 'keep' }>;

/** Ends a transaction whose compare-and-swap failed. */
class LostRace extends Error {}

/**
 * Runs all steps in one transaction; returns false when another commit came first. It locks in a fixed order (locations, then tables by id,
 * then new names), so commits over several tables do not deadlock; it writes the files only when it holds every row.
 * @throws COMMIT_STATE_UNKNOWN; after any other error nothing was changed.
 */
export async function runSteps(
  context: CatalogContext,
  unit: UnitOfWork,
  steps: readonly Step[],
  purpose: 'commit' | 'create',
): Promise<boolean> {
  const swaps = steps.filter((step) => step.kind === 'swap').sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const inserts = steps.filter((step) => step.kind === 'insert');
  if (swaps.length + inserts.length === 0) return true;
  try {
    await unit.transact(async (tx) => {
      await lockForSteps(tx, [...swaps, ...inserts]);
      for (const step of swaps) await runSwap(tx, step, new Date(context.clock.nowMs()));
      for (const step of inserts) await runInsert(tx, step, purpose);
      await writeFiles(context, [...swaps, ...inserts]);
      context.at('before-commit');
    });
  } catch (error) {
    if (error instanceof LostRace) return false;
    throw error;
  }
  context.at('committed');
  return true;
}

async function lockForSteps(tx: Tx, steps: readonly WritingStep[]): Promise<void> {
  const needed = steps.filter((step) => step.folders.length > 0);
  const [first] = needed;
  if (first === undefined) return;
  // All tables of one request belong to one tenant, and the lock is per tenant: any of their catalogs will do.
  const catalogId = first.kind === 'insert' ? first.catalog.id : first.row.catalogId;
  await lockLocations(tx, catalogId, needed.some(({ chosen }) => chosen) ? 'exclusive' : 'shared');
}

async function runSwap(tx: Tx, step: Extract<Step, { kind: 'swap' }>, now: Date): Promise<void> {
  const { row, location, file, text, facts, folders, expiresAt, loads } = step;
  const next = { location, metadataLocation: file, metadata: text, facts, expiresAt, now };
  if (!(await swapMetadata(tx, row, next))) throw new LostRace();
  await requireKeptPolicies(tx, { id: row.id, claims: step.claims }, step.changes);
  if (step.policyVersion !== undefined)
    await requirePolicyVersion(tx, { id: row.id, claims: step.claims }, step.policyVersion);
  if (folders.length > 0) await claimFolders(tx, ownerOf(row.id, row.catalogId, step.claims), folders);
  if (loads !== undefined) await changeLoads(tx, row.id, loads, now);
}

const ownerOf = (id: string, catalogId: string, claims: TableTarget['claims']) => ({
  id,
  catalogId,
  maker: claims.sub,
  isExempt: isExempt(claims),
});

async function runInsert(tx: Tx, step: Extract<Step, { kind: 'insert' }>, purpose: 'commit' | 'create'): Promise<void> {
  const { catalog, target, location, facts, folders, expiresAt } = step;
  const namespace = await holdNamespace(tx, catalog.id, target.ident.namespace);
  const row = { catalogId: catalog.id, namespaceId: namespace.id, ident: target.ident, location, facts, expiresAt };
  try {
    const id = await insertTable(tx, { ...row, metadataLocation: step.file, metadata: step.text });
    await claimFolders(tx, ownerOf(id, catalog.id, target.claims), folders);
  } catch (error) {
    // Another client created the table after the look-up: for a commit this is a requirement that does not hold.
    const exists = error instanceof SkeinError && error.code === 'TABLE_EXISTS';
    if (exists && purpose === 'commit') {
      throw new SkeinError('COMMIT_CONFLICT', 'Requirement failed: table already exists', { cause: error });
    }
    throw error;
  }
}

/** Writes all files or none: when one fails the others are deleted again, because nothing can point to them. */
async function writeFiles(context: CatalogContext, steps: readonly WritingStep[]): Promise<void> {
  const results = await Promise.allSettled(
    steps.map(async ({ file, text }) => (await context.storages.open(file)).write(file, Buffer.from(text))),
  );
  context.at('files-written');
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return;
  const step = steps[results.indexOf(failed)];
  await Promise.allSettled(steps.map(async ({ file }) => (await context.storages.open(file)).remove([file])));
  const reason: unknown = failed.reason;
  if (!(reason instanceof FileNotFound)) throw reason;
  if (step?.kind === 'insert' && step.chosen) throw inTheWay(step.location, reason);
  // A folder that cannot be made is a storage error, not a "not found" for the client.
  throw new SkeinError('STORAGE_ERROR', `cannot write ${reason.uri}`, { cause: reason });
}

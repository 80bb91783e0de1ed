import { randomUUID } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { ManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import {
  commitChanges,
  isUnknown,
  SnapshotAttempts,
  type TableAttempts,
  type WriteCatalog,
} from '#shared/iceberg/write/commit-writes.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { POLICY_VERSION } from '#shared/policy/policy-version.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { SETTLE_MS } from '../catalog-client/change-catalog.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { writeCatalog } from '../catalog-client/write-catalog.ts';
import type { TableSource } from '../binding/table-source.ts';
import type { CommittedTable } from '../operation/command-context.ts';
import type { OpenWrite, WriteJournal } from '../write/write-journal.ts';
import type { Transaction } from './transaction.ts';
import { onlyGrows, type ChangedTable } from './transaction-tables.ts';

export type CommitServices = {
  readonly principal: Principal;
  readonly recordId: string;
  readonly signal: AbortSignal;
  readonly catalog: CatalogClient;
  /** The tables as they are outside of the transaction. */
  readonly tables: TableSource;
  readonly manifests: (table: CommittedTable) => ManifestReader;
  readonly journal: WriteJournal;
  readonly retriesMax: number;
  /** The outcome is unknown: the write is settled behind the statement. */
  readonly endLater: (open: OpenWrite) => void;
};

/**
 * Commits what the statements of a transaction have changed, in one commit of all tables. A table to which only rows came may have been
 * changed by others since; its rows become one snapshot on top of that. Any other must be as the transaction has read it.
 * @throws COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN; after any other error nothing was changed
 */
export async function commitTransaction(transaction: Transaction, services: CommitServices): Promise<void> {
  const { journal, catalog, tables, principal, recordId, signal, retriesMax, endLater } = services;
  const { changed } = transaction.tables;
  const [first] = changed;
  if (first === undefined) return;
  await requireSamePolicies(changed, services);
  const writeId = randomUUID();
  const { metadata } = first.before;
  const places = { data: `${dataFolder(metadata)}/${writeId}`, metadata: metadataFolder(metadata) };
  const open = await journal.begin({ writeId, recordId, principal, places });
  const writes = transaction.takeWrites();
  const opens = [open, ...writes];
  try {
    await commitChanges(
      writeCatalog(catalog, principal, tables),
      changed.map((table) => attemptsOf(table, services)),
      { newKey: () => journal.newKey(opens), retriesMax, settleMs: SETTLE_MS, signal },
    );
  } catch (error) {
    if (isUnknown(error)) {
      endLater(open);
      for (const write of writes) write.settle().catch(() => undefined);
    } else await Promise.allSettled(opens.map((one) => one.discard()));
    throw asConflict(error);
  }
  for (const one of opens) one.committed();
}

/** Statements before a policy was bound have read, and counted, rows that it hides. @throws COMMIT_CONFLICT */
async function requireSamePolicies(
  changed: readonly ChangedTable[],
  { tables, signal }: CommitServices,
): Promise<void> {
  const stood = changed.filter(({ isCreated }) => !isCreated);
  const names = stood.map(({ before }) => before.name);
  const loaded = names.length === 0 ? [] : await tables.loadTables(names, signal);
  const other = stood.find(({ before }, i) => {
    const now = loaded[i];
    return now?.kind === 'found' && now.policyVersion !== before.policyVersion;
  });
  if (other === undefined) return;
  const { catalog, namespace, table } = other.before.name;
  const message = `the policies of ${[catalog, ...namespace, table].join('.')} have changed since the transaction changed it`;
  throw new SkeinError('COMMIT_CONFLICT', message);
}

function attemptsOf(table: ChangedTable, { manifests }: CommitServices): TableAttempts {
  const [first] = table.commits;
  if (first === undefined || !onlyGrows(table)) return new AsItIs(table);
  const { before, commits } = table;
  const write = {
    ...first.write,
    // Those of the first statement have its id, too.
    writeId: `${first.write.writeId}-all`,
    base: before.metadata,
    change: appendFiles(commits.flatMap(({ appended }) => must(appended, 'only rows came'))),
  };
  return new OneSnapshot(table, new SnapshotAttempts(first.storage, write, manifests(before)));
}

/** The policies that the statements knew: a commit of what they have read holds for no others. */
const policiesOf = ({ before, isCreated }: ChangedTable): JsonObject =>
  isCreated ? {} : { [POLICY_VERSION]: before.policyVersion };

/** The changes of a table as the statements made them. */
class AsItIs implements TableAttempts {
  readonly #table: ChangedTable;

  constructor(table: ChangedTable) {
    this.#table = table;
  }

  nextChange(): Promise<JsonObject> {
    const { before, requirements, updates } = this.#table;
    const { catalog, namespace, table: name } = before.name;
    const change = { identifier: { catalog, namespace, name }, requirements, updates };
    return Promise.resolve({ ...change, ...policiesOf(this.#table) });
  }

  /** Another table of the transaction may be the one that has changed: this one stays as it is, if it is as it was. */
  async rebase(catalog: WriteCatalog): Promise<void> {
    const { before, isCreated, requirements } = this.#table;
    const now = await catalog.loadTable(before.name).catch((error: unknown) => {
      if (isCreated && SkeinError.of(error).code === 'TABLE_NOT_FOUND') return undefined;
      throw error;
    });
    if (now === undefined || (!isCreated && isAsRequired(now, before.metadata, requirements))) return;
    const { catalog: inCatalog, namespace, table } = before.name;
    const name = [inCatalog, ...namespace, table].join('.');
    const why = isCreated ? 'was created' : 'was changed';
    throw new SkeinError('COMMIT_CONFLICT', `the table ${name} ${why} by another transaction: begin this one again`);
  }

  removeFiles(): Promise<void> {
    return Promise.resolve();
  }
}

/** Whether a table's branches are where the changes of it require them; the catalog asks the rest. */
const isAsRequired = (now: TableMetadata, before: TableMetadata, requirements: readonly JsonObject[]): boolean =>
  now.tableUuid === before.tableUuid &&
  now.currentSchemaId === before.currentSchemaId &&
  requirements.every(
    ({ type, ref, 'snapshot-id': id }) =>
      type !== 'assert-ref-snapshot-id' ||
      String(now.refs.get(ref as string)?.snapshotId ?? null) === String(id as bigint | null),
  );

/** The rows of all statements as one snapshot of a table, in place of theirs. */
class OneSnapshot implements TableAttempts {
  readonly #table: ChangedTable;
  readonly #snapshot: SnapshotAttempts;

  constructor(table: ChangedTable, snapshot: SnapshotAttempts) {
    this.#table = table;
    this.#snapshot = snapshot;
  }

  async nextChange(): Promise<JsonObject> {
    return { ...(await this.#snapshot.nextChange()), ...policiesOf(this.#table) };
  }

  rebase(catalog: Parameters<TableAttempts['rebase']>[0]): Promise<void> {
    return this.#snapshot.rebase(catalog);
  }

  async removeFiles(which: 'all' | 'superseded'): Promise<void> {
    await this.#snapshot.removeFiles(which);
    if (which === 'all') return;
    // No table has the snapshots of the statements.
    for (const { made, storage } of this.#table.commits) {
      await storage.remove(made?.metadataFiles ?? []).catch(() => undefined);
    }
  }
}

/** A table that is gone at the commit is a conflict as one that has changed. */
function asConflict(thrown: unknown): unknown {
  const error = SkeinError.of(thrown);
  const isGone = ['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND', 'TABLE_EXISTS'].includes(error.code);
  return isGone ? new SkeinError('COMMIT_CONFLICT', error.message, { cause: error }) : thrown;
}

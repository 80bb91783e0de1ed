import { randomUUID } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { requireTable, tableKey, type LoadedTable, type TableLoader, type TableName } from '../binding/table-source.ts';
import type { TableCommit } from '../write/table-commit.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

/** A table that a transaction has changed. */
export type ChangedTable = {
  /** As it was before the transaction; for a table that the transaction creates, as it was created. */
  readonly before: FoundTable;
  /** As the statements see it. */
  readonly now: FoundTable;
  readonly isCreated: boolean;
  /** All that must hold for the changes, and the changes, in the order of the statements. */
  readonly requirements: readonly JsonObject[];
  readonly updates: readonly JsonObject[];
  /** The commits of rows among them. */
  readonly commits: readonly TableCommit[];
};

/** A change of one table, as the REST specification has it. */
export type TableChange = {
  readonly identifier: { readonly catalog: string; readonly namespace: readonly string[]; readonly name: string };
  readonly requirements: readonly JsonObject[];
  readonly updates: readonly JsonObject[];
};

/** The changed tables at a savepoint. */
export type TablesMark = {
  readonly changed: ReadonlyMap<string, ChangedTable>;
  readonly taken: ReadonlyMap<string, number>;
};

/** Statements of one transaction that may change one table: each adds to the commit, and to what the catalog is told before. */
const CHANGES_MAX = 1_000;

/**
 * The tables of one transaction, as its statements see them: as the catalog stood at the first statement, and with what the statements have
 * changed since. Nobody else sees that, because the catalog has not been told: it only says what each change makes of the table.
 * ```
 *   LoadTables(moment) ─▶ before ─▶ change of a statement ─▶ StageTable ─▶ what the next statements read
 *                                      └─ requirements and updates add up, until COMMIT sends them all
 * ```
 * Tables that are only read are not kept: the moment says again what they were.
 */
export class TransactionTables {
  readonly #client: CatalogClient;
  readonly #memory: ByteBudget;
  #moment: Promise<string> | undefined;
  readonly #changed = new Map<string, ChangedTable>();
  /** Bytes that it has taken of the budget, by tenant. */
  readonly #taken = new Map<string, number>();
  #hasMarks = false;

  constructor(client: CatalogClient, memory: ByteBudget) {
    this.#client = client;
    this.#memory = memory;
  }

  /** The changed tables, in the order of their first changes. */
  get changed(): readonly ChangedTable[] {
    return [...this.#changed.values()];
  }

  /** Names of the tables in a namespace that the transaction has created. */
  createdIn(catalog: string, namespace: readonly string[]): readonly string[] {
    const here = JSON.stringify([catalog, namespace]);
    return this.#created().flatMap(({ name }) =>
      JSON.stringify([name.catalog, name.namespace]) === here ? [name.table] : [],
    );
  }

  /** Loads tables for a statement. @throws CATALOG_UNAVAILABLE, FORBIDDEN */
  async load(principal: Principal, names: readonly TableName[], signal: AbortSignal): Promise<readonly LoadedTable[]> {
    const loaded = await (await this.#loader(principal)).loadTables(names, signal);
    return names.map((name, i) => {
      const table = must(loaded[i], 'one answer for each name');
      if (table.kind === 'missing') return this.#changed.get(tableKey(name))?.now ?? this.#createdLike(name) ?? table;
      const changed = this.#changed.get(tableKey(table.name))?.now;
      return changed === undefined ? table : withPolicies(changed, table);
    });
  }

  /** Adds a change of a statement. @throws the errors of a commit, TRANSACTION_TOO_LARGE */
  async change(principal: Principal, change: TableChange): Promise<void> {
    const { catalog, namespace, name: table } = change.identifier;
    const name = { catalog, namespace, table };
    const key = tableKey(name);
    const known = this.#changed.get(key);
    const creates = change.requirements.some(({ type }) => type === 'assert-create');
    const before = known?.before ?? (await this.#before(principal, name));
    if (creates && before !== null) throw new SkeinError('COMMIT_CONFLICT', 'Requirement failed: table already exists');
    const isCreated = creates || known?.isCreated === true;
    const requirements = withRequirements(known?.requirements ?? [], change.requirements);
    const updates = [...(known?.updates ?? []), ...change.updates];
    const transaction = { 'table-changes': [{ identifier: change.identifier, requirements, updates }] };
    const preview = await this.#client.previewTable(principal, Buffer.from(printJson(transaction)), {
      name,
      baseVersion: isCreated ? null : must(before, 'a table that is changed is there').version,
      version: `t${randomUUID()}`,
    });
    // The catalog answers no policies with a preview: they are the table's, and as they are when a statement loads it.
    const now = before === null ? preview : withPolicies(preview, before);
    const first = before ?? now;
    this.#take(principal.tenant, weightOf(now.metadata) + (known === undefined ? weightOf(first.metadata) : 0));
    // A savepoint may still need what the table was.
    if (known !== undefined && !this.#hasMarks) this.#take(principal.tenant, -weightOf(known.now.metadata));
    this.#changed.set(key, { before: first, now, isCreated, requirements, updates, commits: known?.commits ?? [] });
  }

  /** Notes that the last change of a table was this commit. @throws TRANSACTION_TOO_LARGE */
  committed(commit: TableCommit, { tenant }: Pick<Principal, 'tenant'>): void {
    const key = tableKey(commit.write.name);
    const table = must(this.#changed.get(key), 'its change was staged');
    const commits = [...table.commits, commit];
    if (commits.length > CHANGES_MAX) {
      throw new SkeinError('TRANSACTION_TOO_LARGE', `more than ${CHANGES_MAX} statements have changed a table`);
    }
    this.#take(tenant, commit.files * FILE_BYTES);
    this.#changed.set(key, { ...table, commits });
  }

  /** The next statement reads the tables as they are then. To be called while nothing is changed. */
  moveOn(): void {
    this.#moment = undefined;
  }

  /** Notes what was changed until now. */
  mark(): TablesMark {
    this.#hasMarks = true;
    return { changed: new Map(this.#changed), taken: new Map(this.#taken) };
  }

  /** Undoes what has changed since. */
  goBack({ changed, taken }: TablesMark): void {
    for (const [tenant, bytes] of this.#taken) this.#memory.give(tenant, bytes - (taken.get(tenant) ?? 0));
    this.#taken.clear();
    for (const [tenant, bytes] of taken) this.#taken.set(tenant, bytes);
    this.#changed.clear();
    for (const [key, table] of changed) this.#changed.set(key, table);
  }

  /** Frees what it holds. */
  end(): void {
    for (const [tenant, bytes] of this.#taken) this.#memory.give(tenant, bytes);
    this.#taken.clear();
    this.#changed.clear();
  }

  async #loader(principal: Principal): Promise<TableLoader> {
    this.#moment ??= this.#client.moment().catch((error: unknown) => {
      this.#moment = undefined;
      throw error;
    });
    return this.#client.tablesFor(principal, await this.#moment);
  }

  /** The table at the moment; null when it was not there. */
  async #before(principal: Principal, name: TableName): Promise<FoundTable | null> {
    const loader = await this.#loader(principal);
    const [loaded] = await loader.loadTables([name], new AbortController().signal);
    return loaded === undefined || loaded.kind === 'missing' ? null : requireTable(loaded);
  }

  #created(): readonly FoundTable[] {
    return this.changed.flatMap(({ isCreated, now }) => (isCreated ? [now] : []));
  }

  #createdLike(name: TableName): FoundTable | undefined {
    const folded = foldedKey(name);
    return this.#created().find((one) => foldedKey(one.name) === folded);
  }

  #take(tenant: string, bytes: number): void {
    if (bytes > 0 && !this.#memory.take(tenant, bytes)) {
      throw new SkeinError(
        'TRANSACTION_TOO_LARGE',
        'the tables that open transactions have changed take too much memory (coordinator.transaction_memory)',
      );
    }
    if (bytes < 0) this.#memory.give(tenant, -bytes);
    this.#taken.set(tenant, (this.#taken.get(tenant) ?? 0) + bytes);
  }
}

/** Policies hold for every statement that begins after them, in transactions, too. */
const withPolicies = (table: FoundTable, loaded: LoadedTable): FoundTable =>
  loaded.kind === 'found'
    ? {
        ...table,
        oid: loaded.oid,
        policies: loaded.policies,
        policyVersion: loaded.policyVersion,
        // Policies of other tables close folders.
        allowedRoots: loaded.allowedRoots,
      }
    : table;

/** About how much memory the parts of a document take, and what is known of a file. */
const [SNAPSHOT_BYTES, FIELD_BYTES, ENTRY_BYTES, FILE_BYTES] = [2_000, 400, 200, 2_000];

const weightOf = ({ snapshots, fields, snapshotLog, refs, properties }: TableMetadata): number =>
  snapshots.size * SNAPSHOT_BYTES +
  fields.size * FIELD_BYTES +
  (snapshotLog.length + refs.size) * ENTRY_BYTES +
  2 * Object.entries(properties).reduce((length, [name, value]) => length + name.length + value.length, 1_000);

/** Whether nothing but new rows came to one branch of a table: it may then have been changed by others, too. */
export function onlyGrows({ updates, commits }: ChangedTable): boolean {
  const ofRows = updates.filter(({ action }) => action === 'add-snapshot' || action === 'set-snapshot-ref');
  return (
    ofRows.length === updates.length &&
    updates.length === 2 * commits.length &&
    commits.every(({ appended, write }) => appended !== null && write.branch === commits[0]?.write.branch)
  );
}

/** Adds what a later change requires. The first change says what the table must be; later ones see what it has made of it. */
function withRequirements(known: readonly JsonObject[], more: readonly JsonObject[]): readonly JsonObject[] {
  if (known.some(({ type }) => type === 'assert-create')) return known;
  const kinds = new Set(known.map(kindOf));
  return [...known, ...more.filter((one) => !kinds.has(kindOf(one)))];
}

const kindOf = ({ type, ref }: JsonObject): string => JSON.stringify([type, ref]);

const foldedKey = (name: TableName): string => foldIdentifier(tableKey(name));

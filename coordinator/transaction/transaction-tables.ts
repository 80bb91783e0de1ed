import { randomUUID } from 'node:crypto';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { LoadedTable, TableName } from '../resolver/table-source.ts';
import type { TableCommit } from '../write/table-commit.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

/** A table that a transaction has changed. */
export type ChangedTable = {
  /** As it was before the transaction; for a table that the transaction creates, as it was created. */
  readonly before: FoundTable;
  readonly isCreated: boolean;
  /** All that must hold for the changes, and the changes, in the order of the statements. */
  readonly requirements: readonly JsonObject[];
  readonly updates: readonly JsonObject[];
  /** The commits of rows among them. */
  readonly commits: readonly TableCommit[];
};

type Changing = { -readonly [K in keyof ChangedTable]: ChangedTable[K] };

/** A change of one table, as the REST specification has it. */
export type TableChange = {
  readonly identifier: { readonly catalog: string; readonly namespace: readonly string[]; readonly name: string };
  readonly requirements: readonly JsonObject[];
  readonly updates: readonly JsonObject[];
};

/**
 * The tables of one transaction, as its statements see them: as the catalog stood at the first statement, and with what the statements have
 * changed since. Nobody else sees that, because the catalog has not been told: it only says what each change makes of the table.
 * ```
 *   LoadTables(moment) ─▶ before ─▶ change of a statement ─▶ StageTable ─▶ what the next statements read
 *                                      └─ requirements and updates add up, until COMMIT sends them all
 * ```
 */
export class TransactionTables {
  readonly #client: CatalogClient;
  #moment: Promise<string> | undefined;
  /** The stored names that names of statements mean; null = there is no such table, with the answer. */
  readonly #asked = new Map<string, string | LoadedTable>();
  /** Tables and views by their stored names. */
  readonly #now = new Map<string, LoadedTable>();
  readonly #changed = new Map<string, Changing>();

  constructor(client: CatalogClient) {
    this.#client = client;
  }

  /** The changed tables, in the order of their first changes. */
  get changed(): readonly ChangedTable[] {
    return [...this.#changed.values()];
  }

  /** Names of the tables in a namespace that the transaction has created. */
  createdIn(catalog: string, namespace: readonly string[]): readonly string[] {
    const here = JSON.stringify([catalog, namespace]);
    return this.changed.flatMap(({ isCreated, before: { name } }) =>
      isCreated && JSON.stringify([name.catalog, name.namespace]) === here ? [name.table] : [],
    );
  }

  /** Loads tables for a statement. @throws CATALOG_UNAVAILABLE, FORBIDDEN */
  async load(principal: Principal, names: readonly TableName[], signal: AbortSignal): Promise<readonly LoadedTable[]> {
    const unknown = names.filter((name) => this.#find(name) === undefined);
    if (unknown.length > 0) {
      const loader = this.#client.tablesFor(principal, await this.#momentOf());
      const loaded = await loader.loadTables(unknown, signal);
      unknown.forEach((name, i) => this.#keep(name, must(loaded[i], 'one answer for each name')));
    }
    return names.map((name) => must(this.#find(name), 'it was loaded'));
  }

  /** Adds a change of a statement. @throws the errors of a commit */
  async change(principal: Principal, change: TableChange): Promise<void> {
    const { catalog, namespace, name: table } = change.identifier;
    const name = { catalog, namespace, table };
    const key = keyOf(name);
    const isCreated = change.requirements.some(({ type }) => type === 'assert-create');
    const loaded = this.#now.get(key);
    const known = this.#changed.get(key);
    if (isCreated && (known !== undefined || loaded !== undefined)) {
      throw new SkeinError('COMMIT_CONFLICT', 'Requirement failed: table already exists');
    }
    const requirements = withRequirements(known?.requirements ?? [], change.requirements);
    const updates = [...(known?.updates ?? []), ...change.updates];
    const before = known?.before ?? (loaded?.kind === 'found' ? loaded : undefined);
    const baseVersion = isCreated || known?.isCreated === true ? null : must(before, 'it was loaded').version;
    const transaction = { 'table-changes': [{ identifier: change.identifier, requirements, updates }] };
    const staged = await this.#client.stageTable(principal, Buffer.from(printJson(transaction)), {
      name,
      baseVersion,
      version: `t${randomUUID()}`,
    });
    if (known === undefined) {
      this.#changed.set(key, { before: before ?? staged, isCreated, requirements, updates, commits: [] });
    } else Object.assign(known, { requirements, updates });
    this.#now.set(key, staged);
    // A name that meant nothing may mean the new table.
    if (isCreated) for (const [asked, is] of this.#asked) if (typeof is !== 'string') this.#asked.delete(asked);
  }

  /** Notes that the last change of a table was this commit. */
  committed(commit: TableCommit): void {
    const table = must(this.#changed.get(keyOf(commit.write.name)), 'its change was staged');
    table.commits = [...table.commits, commit];
  }

  #momentOf(): Promise<string> {
    this.#moment ??= this.#client.moment().catch((error: unknown) => {
      this.#moment = undefined;
      throw error;
    });
    return this.#moment;
  }

  #find(name: TableName): LoadedTable | undefined {
    const is = this.#asked.get(keyOf(name)) ?? keyOf(name);
    return typeof is === 'string' ? this.#now.get(is) : is;
  }

  #keep(name: TableName, loaded: LoadedTable): void {
    if (loaded.kind === 'missing') this.#asked.set(keyOf(name), loaded);
    else {
      const stored = keyOf(loaded.name);
      this.#asked.set(keyOf(name), stored);
      if (!this.#now.has(stored)) this.#now.set(stored, loaded);
    }
  }
}

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

const keyOf = ({ catalog, namespace, table }: TableName): string => JSON.stringify([catalog, namespace, table]);

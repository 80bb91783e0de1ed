import type { Caller } from '../../../auth/authenticate.ts';
import { requireAction } from '../../../auth/authenticate.ts';
import type { LoadedTable, TableName } from '../../../binding/table-source.ts';
import { schemaName } from '../../../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../../../catalog-client/catalog-client.ts';
import type { Pages } from '../../../catalog-client/pages.ts';
import { matchesLike } from '../../../command/like.ts';
import { callersTables } from '../../../session/callers-tables.ts';

/** Names of table types, as drivers ask for them. */
export const TABLE_KINDS = ['MATERIALIZED VIEW', 'TABLE', 'VIEW'] as const;
type TableKind = (typeof TABLE_KINDS)[number];

export type SchemaEntry = { readonly catalog: string; readonly schema: string };
export type TableEntry = SchemaEntry & {
  readonly name: string;
  readonly kind: TableKind;
  /** Null when it was not loaded. */
  readonly loaded: Exclude<LoadedTable, { kind: 'missing' }> | null;
};

/** A wish for schemas. Patterns are those of LIKE, with backslash; undefined = all. */
export type SchemaFilter = { readonly catalog: string | undefined; readonly schema: string | undefined };
export type TableFilter = SchemaFilter & {
  readonly table: string | undefined;
  /** Empty = all. */
  readonly kinds: readonly string[];
  readonly withColumns: boolean;
};

/** Tables that are loaded at once. */
const LOADED_AT_ONCE = 100;

/** The catalogs, schemas and tables that a caller may see, in the order of their names. */
export class CatalogEntries {
  readonly #client: CatalogClient;
  readonly #caller: Caller;
  readonly #signal: AbortSignal;

  constructor(client: CatalogClient, caller: Caller, signal: AbortSignal) {
    this.#client = client;
    this.#caller = caller;
    this.#signal = signal;
  }

  /** @throws FORBIDDEN, CATALOG_UNAVAILABLE */
  async catalogs(): Promise<readonly string[]> {
    requireAction(this.#caller, 'catalog.list');
    return sorted(await this.#client.listCatalogs(this.#caller.claims, 'catalog.list'));
  }

  /** @throws as `catalogs` */
  async *schemas(filter: SchemaFilter): Pages<SchemaEntry> {
    for await (const { catalog, levels } of this.#namespaces(filter)) yield [{ catalog, schema: schemaName(levels) }];
  }

  /** @throws as `catalogs` */
  async *tables(filter: TableFilter): Pages<TableEntry> {
    requireAction(this.#caller, 'table.list');
    for await (const { catalog, levels } of this.#namespaces(filter)) {
      const names = (await this.#namesOf(catalog, levels, true)).filter((name) => matches(name, filter.table));
      if (names.length === 0) continue;
      const tables = new Set(await this.#namesOf(catalog, levels, false));
      for (let at = 0; at < names.length; at += LOADED_AT_ONCE) {
        const wanted = names.slice(at, at + LOADED_AT_ONCE);
        const entries = await this.#entries({ catalog, levels }, wanted, { tables, withColumns: filter.withColumns });
        yield entries.filter(({ kind }) => filter.kinds.length === 0 || filter.kinds.includes(kind));
      }
    }
  }

  /** One table; undefined when there is none that the caller may see. */
  async table({ catalog, schema, table }: TableWish): Promise<TableEntry | undefined> {
    const exact = { catalog, schema: schema === undefined ? undefined : escaped(schema) };
    for await (const [entry] of this.tables({ ...exact, table: escaped(table), kinds: [], withColumns: true })) {
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  async *#namespaces(filter: SchemaFilter): AsyncGenerator<Namespace, void> {
    requireAction(this.#caller, 'schema.list');
    const catalogs = (await this.catalogs()).filter((name) => filter.catalog === undefined || filter.catalog === name);
    for (const catalog of catalogs) {
      const found: (readonly string[])[] = [];
      for await (const page of this.#client.listNamespaces(this.#caller.claims, catalog, 'schema.list')) {
        this.#signal.throwIfAborted();
        found.push(...page.filter((levels) => matches(schemaName(levels), filter.schema)));
      }
      const byName = (a: readonly string[], b: readonly string[]): number => (schemaName(a) < schemaName(b) ? -1 : 1);
      for (const levels of found.toSorted(byName)) yield { catalog, levels };
    }
  }

  async #namesOf(catalog: string, levels: readonly string[], withViews: boolean): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const page of this.#client.listTables(this.#caller.claims, catalog, levels, withViews)) {
      this.#signal.throwIfAborted();
      names.push(...page);
    }
    return sorted(names);
  }

  /** Views are loaded to learn their kinds, tables when their columns are asked for. One that was dropped meanwhile is left out. */
  async #entries(
    { catalog, levels }: Namespace,
    names: readonly string[],
    { tables, withColumns }: { readonly tables: ReadonlySet<string>; readonly withColumns: boolean },
  ): Promise<readonly TableEntry[]> {
    const wanted = names.filter((name) => withColumns || !tables.has(name));
    const asked: readonly TableName[] = wanted.map((table) => ({ catalog, namespace: levels, table }));
    const source = callersTables(this.#client, this.#caller);
    const answers = asked.length === 0 ? [] : await source.loadTables(asked, this.#signal);
    const loaded = new Map(wanted.map((name, i) => [name, answers[i]]));
    const schema = schemaName(levels);
    return names.flatMap((name): readonly TableEntry[] => {
      const found = loaded.get(name);
      if (found === undefined) return [{ catalog, schema, name, kind: 'TABLE', loaded: null }];
      return found.kind === 'missing' ? [] : [{ catalog, schema, name, kind: kindOf(found), loaded: found }];
    });
  }
}

type Namespace = { readonly catalog: string; readonly levels: readonly string[] };
type TableWish = { readonly catalog: string | undefined; readonly schema: string | undefined; readonly table: string };

function kindOf(loaded: Exclude<LoadedTable, { kind: 'missing' }>): TableKind {
  if (loaded.kind === 'found') return 'TABLE';
  return loaded.view.storageTable === null ? 'VIEW' : 'MATERIALIZED VIEW';
}

const matches = (name: string, pattern: string | undefined): boolean =>
  pattern === undefined || matchesLike(name, pattern);

/** A name as the pattern that matches it alone. */
const escaped = (name: string): string => name.replaceAll(/[\\%_]/g, String.raw`\$&`);

const sorted = (names: readonly string[]): readonly string[] => names.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

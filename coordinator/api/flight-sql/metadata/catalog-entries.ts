import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../../auth/authenticate.ts';
import { requireAction } from '../../../auth/authenticate.ts';
import { schemaName } from '../../../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../../../catalog-client/catalog-client.ts';
import type { Pages } from '../../../catalog-client/pages.ts';
import type { CatalogList } from '../../../catalog-client/relation-lists.ts';
import type { RelationColumns } from '../../../catalog-client/relation.ts';
import { matchesLike } from '../../../command/like.ts';

/** Names of table types, as drivers ask for them. */
export const TABLE_KINDS = ['MATERIALIZED VIEW', 'TABLE', 'VIEW'] as const;
type TableKind = (typeof TABLE_KINDS)[number];

export type SchemaEntry = { readonly catalog: string; readonly schema: string };
export type MetadataTableEntry = SchemaEntry & {
  readonly name: string;
  readonly kind: TableKind;
  readonly columns: () => RelationColumns;
};

/** A wish for schemas. Patterns are those of LIKE, with backslash; undefined = all. */
export type SchemaFilter = { readonly catalog: string | undefined; readonly schema: string | undefined };
export type TableFilter = SchemaFilter & {
  readonly table: string | undefined;
  /** Empty = all. */
  readonly kinds: readonly string[];
};

type ListingClient = Pick<CatalogClient, 'listCatalog' | 'listCatalogs'>;

/** Entries of one page, so that other work may run between two of them, and none becomes a message that a client refuses. */
const PAGE = 200;

/**
 * The catalogs, schemas and tables that a caller may see, in the order of their names. They come from the lists that INFORMATION_SCHEMA
 * reads, so both tell the same.
 */
export class CatalogEntries {
  readonly #client: ListingClient;
  readonly #caller: Caller;
  readonly #signal: AbortSignal;

  constructor(client: ListingClient, caller: Caller, signal: AbortSignal) {
    this.#client = client;
    this.#caller = caller;
    this.#signal = signal;
  }

  /** @throws FORBIDDEN, CATALOG_UNAVAILABLE */
  async catalogs(): Promise<readonly string[]> {
    requireAction(this.#caller, 'catalog.list');
    return (await this.#client.listCatalogs(this.#caller.claims, 'catalog.list')).toSorted(byText);
  }

  /** @throws as `catalogs` */
  async *schemas(filter: SchemaFilter): Pages<SchemaEntry> {
    requireAction(this.#caller, 'schema.list');
    for await (const { catalog, list } of this.#lists(filter)) {
      const names = list.schemas.map(({ levels }) => schemaName(levels)).filter((name) => matches(name, filter.schema));
      yield* pages(names.toSorted(byText).map((schema) => ({ catalog, schema })));
    }
  }

  /** @throws as `catalogs` */
  async *tables({ kinds, table, ...place }: TableFilter): Pages<MetadataTableEntry> {
    requireAction(this.#caller, 'table.list');
    for await (const { catalog, list } of this.#lists(place)) {
      const found = list.blocks.flat().flatMap(({ schema, name, kind, columns }): readonly MetadataTableEntry[] => {
        const isWanted =
          matches(schema, place.schema) && matches(name, table) && (kinds.length === 0 || kinds.includes(kind));
        return isWanted ? [{ catalog, schema, name, kind, columns }] : [];
      });
      yield* pages(found.toSorted((a, b) => byText(a.schema, b.schema) || byText(a.name, b.name)));
    }
  }

  /** One table; undefined when there is none that the caller may see. */
  async table({ catalog, schema, table }: TableWish): Promise<MetadataTableEntry | undefined> {
    const exact = { catalog, schema: schema === undefined ? undefined : escaped(schema) };
    for await (const [entry] of this.tables({ ...exact, table: escaped(table), kinds: [] })) {
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  /** The lists of the catalogs that a filter names; one that was dropped meanwhile is left out. */
  async *#lists(filter: SchemaFilter): AsyncGenerator<{ readonly catalog: string; readonly list: CatalogList }, void> {
    const catalogs = (await this.catalogs()).filter((name) => filter.catalog === undefined || filter.catalog === name);
    for (const catalog of catalogs) {
      this.#signal.throwIfAborted();
      try {
        yield { catalog, list: await this.#client.listCatalog(this.#caller.claims, catalog, this.#signal) };
      } catch (error) {
        if (!(error instanceof SkeinError) || error.code !== 'CATALOG_NOT_FOUND') throw error;
      }
    }
  }
}

type TableWish = { readonly catalog: string | undefined; readonly schema: string | undefined; readonly table: string };

function* pages<T>(entries: readonly T[]): Generator<readonly T[], void> {
  for (let at = 0; at < entries.length; at += PAGE) yield entries.slice(at, at + PAGE);
}

const matches = (name: string, pattern: string | undefined): boolean =>
  pattern === undefined || matchesLike(name, pattern);

/** A name as the pattern that matches it alone. */
const escaped = (name: string): string => name.replaceAll(/[\\%_]/g, String.raw`\$&`);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

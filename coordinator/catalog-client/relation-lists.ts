import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RelationList as RelationListMessage } from '#proto/generated/skein/catalog/v1/RelationList.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { orAborted } from '#shared/or-aborted.ts';
import type { AnswerLease, AskedAt } from './answer-lease.ts';
import { readRelation, type Relation } from './relation.ts';
import type { CatalogCall } from './stage-catalog.ts';

/** A schema as the catalog lists it; `owner` null = it has none. */
type ListedSchema = { readonly levels: readonly string[]; readonly owner: string | null };

/** Schemas (levels joined by dots) and names of the relations that a reader wants; undefined = all. */
export type WantedPlaces = {
  readonly schemas?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  /** No relations are wanted. */
  readonly schemasAlone?: boolean;
};

/** The part of a catalog that a principal may list. */
export type CatalogList = { readonly relations: readonly Relation[]; readonly schemas: readonly ListedSchema[] };

/** `digest` is over all that came but columns, which are new when the version of their relation is. */
type Kept = { readonly list: CatalogList; readonly digest: string; readonly asked: AskedAt | null };

/** Catalogs of principals whose lists are kept, and columns of all their relations. */
const LISTS_MAX = 200;
const COLUMNS_MAX = 2_000_000;
/** Relations whose columns are asked for at once, when few have changed. */
const IDS_MAX = 500;
/** Schemas and names that are asked for by themselves. */
const PLACES_MAX = 100;
const PAGE = 1_000;
/** Longest that a list is read, which many readers may wait for. */
const READ_MS_MAX = 60_000;

/**
 * Lists of tables, views and schemas. One is kept for as long as a lease says that nothing has changed; when something has, only the heads
 * of the relations come again, and the columns of those that are new.
 */
export class RelationLists {
  readonly #call: CatalogCall;
  readonly #lease: Pick<AnswerLease, 'askedAt' | 'holds'>;
  readonly #kept = new LRUCache<string, Kept>({
    max: LISTS_MAX,
    maxSize: COLUMNS_MAX,
    sizeCalculation: ({ list: { relations } }) =>
      relations.reduce((count, { columns }) => count + columns.fields.length, 1 + relations.length),
  });
  readonly #catalogs = new LRUCache<string, { readonly names: readonly string[]; readonly asked: AskedAt | null }>({
    max: LISTS_MAX,
  });
  readonly #turns = new Map<string, Turn>();
  /** The claims of a token are one object for as long as it is in use. */
  readonly #principals = new WeakMap<Principal, number>();
  #known = 0;

  constructor(call: CatalogCall, lease: Pick<AnswerLease, 'askedAt' | 'holds'>) {
    this.#call = call;
    this.#lease = lease;
  }

  /** The names of the catalogs that a principal may find. */
  async catalogs(principal: Principal): Promise<readonly string[]> {
    const key = this.#keyOf(principal, '');
    const kept = this.#catalogs.get(key);
    if (this.#lease.holds(kept?.asked ?? null) && kept !== undefined) return kept.names;
    const asked = this.#lease.askedAt();
    const request = { principal: toPrincipalMessage(principal), action: 'catalog.resolve' };
    const { names } = await this.#call('ListCatalogs', request);
    this.#catalogs.set(key, { names, asked });
    return names;
  }

  /**
   * The list without schemas for a principal that may not list them. A reader of few places gets these relations alone, and no schemas,
   * unless the whole list is at hand. @throws CATALOG_NOT_FOUND
   */
  async list(
    principal: Principal,
    catalog: string,
    signal: AbortSignal,
    wanted: WantedPlaces = {},
  ): Promise<CatalogList> {
    const key = this.#keyOf(principal, catalog);
    const kept = this.#kept.get(key);
    // Asking has the lease begin, although the first list comes without one.
    if (this.#lease.holds(kept?.asked ?? null) && kept !== undefined) return kept.list;
    const places = { schemas: [...(wanted.schemas ?? [])], names: [...(wanted.names ?? [])] };
    const count = places.schemas.length + places.names.length;
    const part = wanted.schemasAlone === true ? 'schemas' : count > 0 && count <= PLACES_MAX ? places : 'all';
    const read = (): Promise<CatalogList> => {
      const ending = AbortSignal.timeout(READ_MS_MAX);
      if (part === 'all') return this.#read(principal, { key, catalog }, ending);
      return part === 'schemas'
        ? this.#schemas(principal, catalog, ending).then((schemas) => ({ relations: [], schemas }))
        : this.#readPlaces(principal, { catalog, ...part }, ending);
    };
    return orAborted(this.#inTurn(`${key} ${JSON.stringify(part)}`, read), signal);
  }

  async #readPlaces(
    principal: Principal,
    places: { readonly catalog: string; readonly schemas: string[]; readonly names: string[] },
    signal: AbortSignal,
  ): Promise<CatalogList> {
    const request = { principal: toPrincipalMessage(principal), ...places, with_columns: true };
    const found = await this.#pages(request, signal);
    return { relations: found.map((one) => readRelation(one, null)), schemas: [] };
  }

  /** Readers that come while a list is read share the next one: the one that is read may have begun before a change that they must see. */
  #inTurn(key: string, read: () => Promise<CatalogList>): Promise<CatalogList> {
    const begin = (): Promise<CatalogList> => {
      const running = read().finally(() => {
        if (this.#turns.get(key)?.running === running) this.#turns.delete(key);
      });
      this.#turns.set(key, { running, next: null });
      return running;
    };
    const turn = this.#turns.get(key);
    if (turn === undefined) return begin();
    turn.next ??= turn.running.then(nothing, nothing).then(begin);
    return turn.next;
  }

  async #read(
    principal: Principal,
    { key, catalog }: { readonly key: string; readonly catalog: string },
    signal: AbortSignal,
  ): Promise<CatalogList> {
    const kept = this.#kept.get(key);
    const asked = this.#lease.askedAt();
    const known = kept?.list.relations ?? [];
    const { relations, digest: ofRelations } = await this.#relations(principal, { catalog, known }, signal);
    const schemas = await this.#schemas(principal, catalog, signal);
    const digest = `${ofRelations} ${digestOf(schemas)}`;
    // The same list stays the same object, with which its readers keep what they have made of it.
    const list = kept?.digest === digest ? kept.list : { relations, schemas };
    this.#kept.set(key, { list, digest, asked });
    return list;
  }

  async #relations(
    principal: Principal,
    { catalog, known }: { readonly catalog: string; readonly known: readonly Relation[] },
    signal: AbortSignal,
  ): Promise<{ readonly relations: readonly Relation[]; readonly digest: string }> {
    const columnsOf = new Map(known.map(({ id, version, columns }) => [`${id} ${version}`, columns]));
    const withColumns = known.length === 0;
    const wanted = { principal: toPrincipalMessage(principal), catalog };
    const heads = await this.#pages({ ...wanted, with_columns: withColumns }, signal);
    const isKnown = ({ id, version }: Heads[number]): boolean => columnsOf.has(`${id} ${version}`);
    const changed = withColumns ? [] : heads.filter((head) => !isKnown(head));
    const fresh = new Map<string, Heads[number]>();
    for (let at = 0; at < changed.length; at += IDS_MAX) {
      const ids = changed.slice(at, at + IDS_MAX).map(({ id }) => id);
      for (const one of await this.#pages({ ...wanted, ids, with_columns: true }, signal)) fresh.set(one.id, one);
    }
    // One that is not among the fresh ones was dropped meanwhile.
    const messages = heads.flatMap((head) => (withColumns || isKnown(head) ? [head] : (fresh.get(head.id) ?? [])));
    return {
      relations: messages.map((one) => readRelation(one, columnsOf.get(`${one.id} ${one.version}`) ?? null)),
      digest: digestOf(messages.map((one) => ({ ...one, columns: '' }))),
    };
  }

  async #pages(request: Wanted, signal: AbortSignal): Promise<Heads> {
    const found: Heads[number][] = [];
    for (let after: string | null = ''; after !== null;) {
      signal.throwIfAborted();
      const { relations, more, last }: RelationListMessage = await this.#call('ListRelations', {
        ...request,
        after,
        limit: PAGE,
      });
      found.push(...relations);
      after = more ? last : null;
      // A lease that nobody asks for ends, and a long list would come without one each time.
      this.#lease.holds(null);
    }
    return found;
  }

  #schemas(principal: Principal, catalog: string, signal: AbortSignal): Promise<readonly ListedSchema[]> {
    return this.#listedSchemas(principal, catalog, signal).catch((error: unknown) => {
      if (error instanceof SkeinError && error.code === 'FORBIDDEN') return [];
      throw error;
    });
  }

  async #listedSchemas(principal: Principal, catalog: string, signal: AbortSignal): Promise<readonly ListedSchema[]> {
    const asked = { principal: toPrincipalMessage(principal), action: 'schema.list', catalog, limit: PAGE, name: '' };
    const found: ListedSchema[] = [];
    for (let more = true, after: string[] = []; more;) {
      signal.throwIfAborted();
      const page = await this.#call('ListNamespaces', { ...asked, after });
      found.push(...page.namespaces.map(({ levels, owner }) => ({ levels, owner: owner === '' ? null : owner })));
      after = [...(page.namespaces.at(-1)?.levels ?? [])];
      ({ more } = page);
    }
    return found;
  }

  #keyOf(principal: Principal, catalog: string): string {
    const known = this.#principals.get(principal) ?? (this.#known += 1);
    this.#principals.set(principal, known);
    return JSON.stringify([known, catalog]);
  }
}

/** A list that is read, and the one that is read behind it. */
type Turn = { readonly running: Promise<CatalogList>; next: Promise<CatalogList> | null };
const nothing = (): void => undefined;

function digestOf(messages: readonly object[]): string {
  const hash = createHash('sha256');
  for (const message of messages) hash.update(JSON.stringify(message));
  return hash.digest('base64');
}

type Heads = RelationListMessage['relations'];

type Wanted = {
  readonly principal: ReturnType<typeof toPrincipalMessage>;
  readonly catalog: string;
  readonly ids?: string[];
  readonly schemas?: string[];
  readonly names?: string[];
  readonly with_columns: boolean;
};

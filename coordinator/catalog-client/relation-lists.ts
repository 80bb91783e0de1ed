import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { RelationList as RelationListMessage } from '#proto/generated/skein/catalog/v1/RelationList.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { orAborted } from '#shared/or-aborted.ts';
import type { AnswerLease, AskedAt } from './answer-lease.ts';
import type { ChangeList } from '#proto/generated/skein/catalog/v1/ChangeList.ts';
import { blocksOf, changedBlocks, type RelationBlock } from './relation-blocks.ts';
import { readRelation, type Relation } from './relation.ts';
import type { CatalogCall } from './stage-catalog.ts';

/** A schema as the catalog lists it; `owner` and `comment` null = it has none. */
type ListedSchema = {
  readonly levels: readonly string[];
  readonly owner: string | null;
  readonly comment: string | null;
  readonly oid: number;
};

/** Schemas (levels joined by dots) and names of the relations that a reader wants; undefined = all. */
export type WantedPlaces = {
  readonly schemas?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  /** No relations are wanted. */
  readonly schemasAlone?: boolean;
};

/** The part of a catalog that a principal may list. */
export type CatalogList = { readonly blocks: readonly RelationBlock[]; readonly schemas: readonly ListedSchema[] };

/** `mark` has every change that the list has, and perhaps not all that the list has. */
type Kept = { readonly list: CatalogList; readonly mark: string; readonly asked: AskedAt | null };

/** Catalogs of principals whose lists are kept, and bytes of all. */
const LISTS_MAX = 200;
const LISTS_BYTES_MAX = 256 * 2 ** 20;
/** Memory of a relation without its columns, about. */
const RELATION_BYTES = 1_000;
/** Relations that are asked for at once by their ids. */
const IDS_MAX = 500;
/** Schemas and names that are asked for by themselves. */
const PLACES_MAX = 100;
const PAGE = 1_000;
/** Longest that a list is read, which many readers may wait for. */
const READ_MS_MAX = 60_000;

/**
 * Lists of tables, views and schemas. One is kept, and is as it was for as long as a lease says that nothing has changed; after that the
 * catalog says what has changed, and only that is read again:
 * ```
 *   ListChanges(mark) ─▶ the next mark, and the ids of what the last one does not see ─▶ ListRelations(ids)
 * ```
 * The next mark is older than what is read behind it: what changes in between is read twice, and nothing is missed.
 */
export class RelationLists {
  readonly #call: CatalogCall;
  readonly #lease: Pick<AnswerLease, 'askedAt' | 'holds'>;
  readonly #kept = new LRUCache<string, Kept>({
    max: LISTS_MAX,
    maxSize: LISTS_BYTES_MAX,
    sizeCalculation: ({ list }) => bytesOf(list),
  });
  readonly #catalogs = new LRUCache<string, { readonly names: readonly string[]; readonly asked: AskedAt | null }>({
    max: LISTS_MAX,
  });
  readonly #turns = new Map<string, Turn>();
  /** The claims of a token are one object for as long as it is in use. */
  readonly #principals = new WeakMap<Principal, number>();
  readonly #uses = memoryUses('relation_lists');
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
    const isCurrent = this.#lease.holds(kept?.asked ?? null);
    this.#uses.count(isCurrent && kept !== undefined);
    if (isCurrent && kept !== undefined) return kept.list;
    const places = { schemas: [...(wanted.schemas ?? [])], names: [...(wanted.names ?? [])] };
    const count = places.schemas.length + places.names.length;
    const isOfFew = count > 0 && count <= PLACES_MAX;
    // To follow the changes of a list that is here costs less.
    const part = kept !== undefined ? 'all' : wanted.schemasAlone === true ? 'schemas' : isOfFew ? places : 'all';
    const read = (): Promise<CatalogList> => {
      const ending = AbortSignal.timeout(READ_MS_MAX);
      if (part === 'all') return this.#read(principal, { key, catalog }, ending);
      return part === 'schemas'
        ? this.#schemas(principal, catalog, ending).then((schemas) => ({ blocks: [], schemas }))
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
    return { blocks: blocksOf(found), schemas: [] };
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
    const request = { principal: toPrincipalMessage(principal), catalog };
    const changes = await this.#call('ListChanges', { ...request, since: kept?.mark ?? '' });
    const list =
      kept === undefined || !changes.is_known
        ? { blocks: blocksOf(await this.#pages({ ...request, with_columns: true }, signal)), schemas: null }
        : await this.#changed(kept.list, changes, request, signal);
    const schemas = list.schemas ?? (await this.#schemas(principal, catalog, signal));
    const next = list === kept?.list ? kept.list : { ...list, schemas };
    this.#kept.set(key, { list: next, mark: changes.mark, asked });
    return next;
  }

  /** The list with what has changed in it; schemas null = they are to be read again. One that has not changed stays the same object. */
  async #changed(
    list: CatalogList,
    changes: ChangeList,
    request: Omit<Wanted, 'with_columns'>,
    signal: AbortSignal,
  ): Promise<Pick<CatalogList, 'blocks'> & { readonly schemas: CatalogList['schemas'] | null }> {
    const { relations: ids, namespaces } = changes;
    if (ids.length === 0 && !namespaces) return list;
    const now: Relation[] = [];
    for (let at = 0; at < ids.length; at += IDS_MAX) {
      const some = ids.slice(at, at + IDS_MAX);
      now.push(...(await this.#pages({ ...request, ids: some, with_columns: true }, signal)));
    }
    return { blocks: changedBlocks(list.blocks, new Set(ids), now), schemas: namespaces ? null : list.schemas };
  }

  async #pages(request: Wanted, signal: AbortSignal): Promise<readonly Relation[]> {
    const found: Relation[] = [];
    for (let after: string | null = ''; after !== null;) {
      signal.throwIfAborted();
      const { relations, more, last }: RelationListMessage = await this.#call('ListRelations', {
        ...request,
        after,
        limit: PAGE,
      });
      found.push(...relations.map(readRelation));
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
      found.push(
        ...page.namespaces.map(({ levels, owner, comment, oid }) => ({
          levels,
          owner: owner === '' ? null : owner,
          comment: comment === '' ? null : comment,
          oid,
        })),
      );
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

const bytesOf = ({ blocks, schemas }: CatalogList): number =>
  blocks.flat().reduce((bytes, { columnBytes }) => bytes + RELATION_BYTES + columnBytes, 1 + schemas.length);

type Wanted = {
  readonly principal: ReturnType<typeof toPrincipalMessage>;
  readonly catalog: string;
  readonly ids?: string[];
  readonly schemas?: string[];
  readonly names?: string[];
  readonly with_columns: boolean;
};

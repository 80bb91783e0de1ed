import { setImmediate } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { mayDo, type Caller } from '../../auth/authenticate.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../../catalog-client/catalog-client.ts';
import type { Relation } from '../../catalog-client/relation.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';
import type { BrowsedObject, ObjectSort } from './browse-operations.ts';

/** Which objects are asked for: those below a place, or those whose name contains a text. */
export type ObjectRequest = {
  readonly catalog?: string;
  readonly schema?: string;
  readonly relation?: string;
  readonly search?: string;
  /** The page begins behind this name. */
  readonly after?: string;
  /** Relations of a schema with their details, in this order, from the `offset`th on. */
  readonly sort?: ObjectSort;
  readonly descending?: boolean;
  readonly offset?: number;
  readonly limit: number;
};

export type ObjectPage = {
  readonly objects: readonly BrowsedObject[];
  readonly more: boolean;
  /** How many there are; absent in pages by name. */
  readonly total?: number;
};

/**
 * Lists objects for a person who looks, without a record in the history. The lists are those of INFORMATION_SCHEMA, which are kept while nothing
 * changes, so a page of 10,000 tables asks nobody.
 */
export class Objects {
  readonly #catalog: Pick<CatalogClient, 'findCatalogs' | 'listCatalog' | 'stages'>;

  constructor(catalog: Pick<CatalogClient, 'findCatalogs' | 'listCatalog' | 'stages'>) {
    this.#catalog = catalog;
  }

  /** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
  async list(caller: Caller, request: ObjectRequest, signal: AbortSignal): Promise<ObjectPage> {
    const { catalog, schema, relation, search, after, limit } = request;
    if (catalog === undefined) {
      const names = await this.#catalog.findCatalogs(caller.claims);
      return objectPage(names.filter(containing(search)).map(catalogObject), after, limit);
    }
    const place = { catalog, signal };
    if (search !== undefined) return pageInTurns(await this.#search(caller, search, place), { after, limit }, signal);
    if (schema === undefined) return objectPage(await this.#schemas(caller, place), after, limit);
    if (relation === undefined && request.sort !== undefined) {
      return sortedPage(await this.#relations(caller, schema, place), { ...request, sort: request.sort });
    }
    if (relation === undefined) return objectPage(await this.#relations(caller, schema, place), after, limit);
    const found = await this.relation(caller, { ...place, schema, relation });
    return { objects: columnsOf(found, catalog), more: false };
  }

  /** @throws TABLE_NOT_FOUND */
  async relation(
    caller: Caller,
    path: Place & { readonly schema: string; readonly relation: string },
  ): Promise<Relation> {
    const all = await this.relations(caller, path);
    const of = all.filter(({ schema }) => schema === path.schema);
    const folded = foldIdentifier(path.relation);
    const found =
      of.find(({ name }) => name === path.relation) ?? of.find(({ name }) => foldIdentifier(name) === folded);
    if (found !== undefined) return found;
    throw new SkeinError('TABLE_NOT_FOUND', `table ${path.schema}.${path.relation} does not exist`);
  }

  /** The tables and views of a catalog that the caller may list; none for who may list none. */
  async relations(caller: Caller, { catalog, signal }: Place): Promise<readonly Relation[]> {
    if (!mayDo(caller, 'table.list')) return [];
    const { blocks } = await this.#catalog.listCatalog(caller.claims, catalog, signal);
    return blocks.flat();
  }

  async schemas(caller: Caller, { catalog, signal }: Place): Promise<readonly string[]> {
    if (!mayDo(caller, 'schema.list')) return [];
    const { schemas } = await this.#catalog.listCatalog(caller.claims, catalog, signal, { schemasAlone: true });
    return schemas.map(({ levels }) => schemaName(levels));
  }

  async #schemas(caller: Caller, place: Place): Promise<readonly BrowsedObject[]> {
    const names = await this.schemas(caller, place);
    return names.map((name) => ({ ...NOTHING, kind: 'schema', name, catalog: place.catalog }));
  }

  async #relations(caller: Caller, schema: string, place: Place): Promise<readonly BrowsedObject[]> {
    const relations = (await this.relations(caller, place)).filter((one) => one.schema === schema);
    const objects = relations.map((one) => relationObject(one, place.catalog));
    return [...objects, ...(await this.#stages(caller, schema, place.catalog))];
  }

  async #stages(caller: Caller, schema: string, catalog: string): Promise<readonly BrowsedObject[]> {
    if (!mayDo(caller, 'stage.list')) return [];
    const found: BrowsedObject[] = [];
    for await (const stages of this.#catalog.stages.list(caller.claims, catalog, schema.split('.'))) {
      found.push(...stages.map(({ name }) => ({ ...NOTHING, kind: 'stage' as const, name, catalog, schema })));
    }
    return found;
  }

  /** Objects that are found, for each schema and each relation. */
  async #search(caller: Caller, search: string, place: Place): Promise<Iterable<readonly BrowsedObject[]>> {
    const all = await this.relations(caller, place);
    const schemas = await this.schemas(caller, place);
    return foundIn({ schemas, relations: all }, search, place.catalog);
  }
}

function* foundIn(
  { schemas, relations }: { readonly schemas: readonly string[]; readonly relations: readonly Relation[] },
  search: string,
  catalog: string,
): Generator<readonly BrowsedObject[]> {
  const matches = containing(search);
  const folded = foldIdentifier(search);
  for (const name of schemas) yield matches(name) ? [{ ...NOTHING, kind: 'schema', name, catalog }] : [];
  for (const one of relations) {
    const isFound = matches(one.name) || (one.comment !== null && matches(one.comment));
    const columns = one.mentions(folded) ? columnsOf(one, catalog).filter(({ name }) => matches(name)) : [];
    yield isFound ? [relationObject(one, catalog), ...columns] : columns;
  }
}

type Place = { readonly catalog: string; readonly signal: AbortSignal };

const NOTHING = { catalog: null, schema: null, relation: null, type: null, comment: null } as const;

const catalogObject = (name: string): BrowsedObject => ({ ...NOTHING, kind: 'catalog', name });

const KINDS = { TABLE: 'table', VIEW: 'view', 'MATERIALIZED VIEW': 'materialized view' } as const;

const relationObject = (
  { schema, name, kind, comment, owner, created, changedAtMs, rows, bytes, policies }: Relation,
  catalog: string,
): BrowsedObject => ({
  ...NOTHING,
  kind: KINDS[kind],
  name,
  catalog,
  schema,
  comment,
  details: {
    owner,
    created,
    changed: changedAtMs === null ? null : new Date(changedAtMs).toISOString(),
    rows: wholeOf(rows),
    bytes: wholeOf(bytes),
    has_policies: policies.length > 0,
  },
});

const wholeOf = (text: string | null): number | null => (text === null ? null : Number(text));

type Sorting = Pick<ObjectRequest, 'descending' | 'offset' | 'limit'> & { readonly sort: ObjectSort };

/** A page of the objects of a schema in an order; what has no value in it comes last, and equal ones are by name. */
export function sortedPage(
  objects: readonly BrowsedObject[],
  { sort, descending = false, offset = 0, limit }: Sorting,
): ObjectPage {
  const valueOf = ({ name, details }: BrowsedObject): string | number | null =>
    sort === 'name' ? name : (details?.[sort] ?? null);
  const inOrder = objects.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === other) return compareKeys(a, b);
    if (one === null || other === null) return one === null ? 1 : -1;
    return (one < other ? -1 : 1) * (descending ? -1 : 1);
  });
  const page = inOrder.slice(offset, offset + limit);
  return { objects: page, more: offset + limit < inOrder.length, total: inOrder.length };
}

/** The columns of a table or view, in their order. */
const columnsOf = (relation: Relation, catalog: string): readonly BrowsedObject[] =>
  relation.columns().fields.map((field) => ({
    kind: 'column',
    name: field.name,
    catalog,
    schema: relation.schema,
    relation: relation.name,
    type: sqlTypeName(field.type),
    comment: field.doc ?? null,
  }));

function containing(search: string | undefined): (name: string) => boolean {
  const folded = foldIdentifier(search ?? '');
  return (name) => foldIdentifier(name).includes(folded);
}

/**
 * A page of objects in the order of their names, and those with one name in that of their schemas and kinds. A list of many is read through once
 * and never sorted: only the page is kept in order.
 */
export function objectPage(objects: Iterable<BrowsedObject>, after: string | undefined, limit: number): ObjectPage {
  const page = new PageInOrder(after, limit);
  for (const object of objects) page.add(object);
  return page.found();
}

/** Longest time, in milliseconds, that a list is searched between two turns of the event loop: others wait for their answers meanwhile. */
const TURN_MS = 5;

/** The same of objects that are looked for, which takes long where the columns of very many tables are read. @throws the reason of the signal */
export async function pageInTurns(
  found: Iterable<readonly BrowsedObject[]>,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
  signal: AbortSignal,
): Promise<ObjectPage> {
  const page = new PageInOrder(after, limit);
  let turnEndsAt = performance.now() + TURN_MS;
  for (const objects of found) {
    for (const object of objects) page.add(object);
    if (performance.now() < turnEndsAt) continue;
    await setImmediate();
    signal.throwIfAborted();
    turnEndsAt = performance.now() + TURN_MS;
  }
  return page.found();
}

class PageInOrder {
  readonly #from: Key | null;
  readonly #limit: number;
  readonly #kept: BrowsedObject[] = [];
  #more = false;

  /** @throws INVALID_REQUEST unless `after` is that of a place */
  constructor(after: string | undefined, limit: number) {
    this.#from = after === undefined ? null : placeOf(after);
    this.#limit = limit;
  }

  add(object: BrowsedObject): void {
    const kept = this.#kept;
    if (this.#from !== null && compareKeys(object, this.#from) <= 0) return;
    const last = kept.at(-1);
    if (kept.length === this.#limit && last !== undefined) {
      this.#more = true;
      if (compareKeys(object, last) >= 0) return;
      kept.pop();
    }
    kept.splice(placeIn(kept, object), 0, object);
  }

  found(): ObjectPage {
    return { objects: this.#kept, more: this.#more };
  }
}

type Key = Pick<BrowsedObject, 'name' | 'schema' | 'kind' | 'relation'>;

/** Where an object belongs in a list that is in order. */
function placeIn(kept: readonly BrowsedObject[], object: BrowsedObject): number {
  let [low, high] = [0, kept.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const other = kept[middle];
    if (other !== undefined && compareKeys(other, object) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const compareKeys = (one: Key, other: Key): number =>
  compareTexts(one.name, other.name) ||
  compareTexts(one.schema ?? '', other.schema ?? '') ||
  compareTexts(one.kind, other.kind) ||
  // Columns of many tables have one name.
  compareTexts(one.relation ?? '', other.relation ?? '');

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The place of an object in its list, and what the next page is asked behind. */
export const keyOf = ({ schema, name, kind, relation }: Key): string => JSON.stringify([name, schema, kind, relation]);

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

/** @throws INVALID_REQUEST unless the text is that of a place */
function placeOf(after: string): Key {
  try {
    const place: unknown = JSON.parse(after);
    if (Array.isArray(place)) {
      const [name, schema, kind, relation = null] = place as readonly unknown[];
      const isPlace = typeof name === 'string' && typeof kind === 'string' && isTextOrNull(relation);
      if (isPlace && isTextOrNull(schema)) return { name, schema, kind: kind as BrowsedObject['kind'], relation };
    }
  } catch {
    // It is no JSON.
  }
  throw new SkeinError('INVALID_REQUEST', 'after must be `next` of the page before');
}

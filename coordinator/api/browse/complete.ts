import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { Relation } from '../../catalog-client/relation.ts';
import type { CurrentNames } from '../../session/current-names.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';
import { FUNCTIONS, COMPLETED_KEYWORDS } from './common-words.ts';
import type { Objects } from './objects.ts';
import { cursorPlace, type CursorPlace, type NamedRelation } from './statement-context.ts';

/** A name that may stand at the cursor. */
type Proposal = {
  readonly label: string;
  readonly kind: 'catalog' | 'schema' | 'table' | 'view' | 'column' | 'function' | 'keyword';
  /** Type of a column, place of a relation. */
  readonly detail: string | null;
};

/** Proposals for the text from `from` to the cursor. */
export type Completion = { readonly from: number; readonly proposals: readonly Proposal[] };

const PROPOSALS_MAX = 100;
/** Longest alias that a proposal tells. */
const ALIAS_LENGTH_MAX = 100;

type Asked = {
  readonly sql: string;
  readonly position: number;
  readonly current: CurrentNames;
  readonly signal: AbortSignal;
};

/**
 * Proposes what may stand at a place of a text, from the caller's own lists; nothing runs. Columns come first, of the tables that the statement
 * names, then functions and words.
 */
export async function complete(objects: Objects, caller: Caller, asked: Asked): Promise<Completion> {
  const place = cursorPlace(asked.sql, asked.position);
  if (place === null || asked.current.catalog === '') return { from: asked.position, proposals: [] };
  const finder = {
    objects,
    caller,
    catalog: asked.current.catalog,
    schema: asked.current.schema.join('.'),
    signal: asked.signal,
  };
  const found =
    place.qualifier.length > 0
      ? await qualified(finder, place)
      : place.wantsRelation
        ? await relations(finder)
        : [...(await columns(finder, place.sources)), ...WORDS];
  return { from: place.from, proposals: bestOf(found, place.prefix) };
}

type Finder = {
  readonly objects: Objects;
  readonly caller: Caller;
  readonly catalog: string;
  readonly schema: string;
  readonly signal: AbortSignal;
};

const WORDS: readonly Proposal[] = [
  ...FUNCTIONS.map((label) => ({ label, kind: 'function' as const, detail: null })),
  ...COMPLETED_KEYWORDS.map((label) => ({ label, kind: 'keyword' as const, detail: null })),
];

/** Names that are the same as one, which is folded once: a text may hold a name of 100,000 letters, and a list as many names. */
function equalTo(name: string): (other: string) => boolean {
  const folded = foldIdentifier(name);
  return (other) => other.length === name.length && foldIdentifier(other) === folded;
}

/** Behind `x.`: the columns of a table or alias x, else the tables of a schema x, else the schemas of a catalog x. */
async function qualified(finder: Finder, { qualifier, sources }: CursorPlace): Promise<readonly Proposal[]> {
  const { objects, caller, catalog, signal } = finder;
  const [first = ''] = qualifier;
  const isFirst = equalTo(first);
  const source = qualifier.length === 1 ? sources.find(({ alias }) => isFirst(alias)) : undefined;
  const ofSource = source === undefined ? [] : await columns(finder, [source]);
  if (ofSource.length > 0) return ofSource;
  const all = await objects.relations(caller, { catalog, signal });
  const isNamed = equalTo(qualifier.join('.'));
  const inSchema = all.filter(({ schema }) => isNamed(schema));
  if (inSchema.length > 0) return relationProposals(inSchema);
  const names = await objects.list(caller, { limit: 1_000 }, signal);
  const other = names.objects.find(({ name }) => isFirst(name))?.name;
  if (other === undefined) return [];
  const place = { catalog: other, signal };
  const below = qualifier.slice(1).join('.');
  if (below === '') {
    const schemas = await objects.schemas(caller, place);
    return schemas.map((label) => ({ label, kind: 'schema', detail: other }));
  }
  const isBelow = equalTo(below);
  return relationProposals((await objects.relations(caller, place)).filter(({ schema }) => isBelow(schema)));
}

/** Relations of the session's schema, the schemas, and the catalogs. */
async function relations({ objects, caller, catalog, schema, signal }: Finder): Promise<readonly Proposal[]> {
  const place = { catalog, signal };
  const isOwn = equalTo(schema);
  const own = relationProposals((await objects.relations(caller, place)).filter((one) => isOwn(one.schema)));
  const schemas = await objects.schemas(caller, place);
  const catalogs = await objects.list(caller, { limit: 1_000 }, signal);
  return [
    ...own,
    ...schemas.map((label) => ({ label, kind: 'schema' as const, detail: catalog })),
    ...catalogs.objects.map(({ name }) => ({ label: name, kind: 'catalog' as const, detail: null })),
  ];
}

async function columns(finder: Finder, sources: readonly NamedRelation[]): Promise<readonly Proposal[]> {
  if (sources.length === 0) return [];
  const found: Proposal[] = [];
  for (const source of sources) {
    const relation = await find(finder, source.path);
    // Each proposal has it.
    const alias = source.alias.slice(0, ALIAS_LENGTH_MAX);
    for (const field of relation?.columns().fields ?? []) {
      found.push({ label: field.name, kind: 'column', detail: `${alias} · ${sqlTypeName(field.type)}` });
    }
  }
  return found;
}

async function find(
  { objects, caller, catalog, schema, signal }: Finder,
  path: readonly string[],
): Promise<Relation | undefined> {
  const isNamed = equalTo(path.at(-1) ?? '');
  const inCatalog = async (where: string, below: string): Promise<Relation | undefined> => {
    const isBelow = equalTo(below);
    const all = await objects.relations(caller, { catalog: where, signal });
    return all.find((one) => isNamed(one.name) && isBelow(one.schema));
  };
  const places = path.slice(0, -1);
  const here = await inCatalog(catalog, places.length === 0 ? schema : places.join('.'));
  if (here !== undefined || places.length < 2) return here;
  const catalogs = await objects.list(caller, { limit: 1_000 }, signal);
  const isFirst = equalTo(places[0] ?? '');
  const other = catalogs.objects.find((one) => isFirst(one.name))?.name;
  return other === undefined ? undefined : inCatalog(other, places.slice(1).join('.'));
}

/** Relations by their names, whose letters are folded once: there may be 10,000 of them. */
const relationProposals = (relations: readonly Relation[]): readonly Proposal[] =>
  relations
    .map(({ name, kind, schema }) => ({
      key: foldIdentifier(name),
      proposal: { label: name, kind: kind === 'TABLE' ? ('table' as const) : ('view' as const), detail: schema },
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ proposal }) => proposal);

/** Those that begin with the prefix, then those that contain it. */
function bestOf(proposals: readonly Proposal[], prefix: string): readonly Proposal[] {
  const folded = foldIdentifier(prefix);
  if (folded === '') return proposals.slice(0, PROPOSALS_MAX);
  const begins: Proposal[] = [];
  const contains: Proposal[] = [];
  for (const proposal of proposals) {
    const at = foldIdentifier(proposal.label).indexOf(folded);
    if (at === 0) begins.push(proposal);
    else if (at > 0) contains.push(proposal);
  }
  return [...begins, ...contains].slice(0, PROPOSALS_MAX);
}

import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { checkShape } from '../../statement/check-shape.ts';
import type { DerivedText } from '../../statement/derived-text.ts';
import { EditedText } from '../../statement/edited-text.ts';
import { isSchemaView, namesOf } from '../bind-tables.ts';
import type { NameDefaults, QueryReferences, TableReference, TimeTravel } from '../../binding/query-references.ts';
import { spliceTables } from '../splice-tables.ts';
import {
  requireTableAction,
  tableKey,
  type LoadedTable,
  type LoadedView,
  type TableLoader,
} from '../../binding/table-source.ts';
import { checkMeaning, readableQuery, underNames, type ForeignViews } from './foreign-query.ts';
import { castToView, typedNulls } from './typed-columns.ts';

/** Views within views. */
const DEPTH_MAX = 32;
/** Characters of a query with the queries of its views in it. */
const TEXT_MAX = 1024 * 1024;
/** Tables and views that a query names, those in its views counted as often as they are reached. */
const NAMES_MAX = 2_000;
/** The gate's limits for the text of one view. */
const VIEW_LIMITS = { bytesMax: TEXT_MAX, depthMax: 200 };

export type ViewContext = ForeignViews & {
  /** Names of one query, where `defaults` stand for what a name leaves out. */
  readonly parse: (sql: string, defaults: NameDefaults) => Promise<QueryReferences>;
  readonly tables: TableLoader;
  readonly signal: AbortSignal;
};

/** A query whose views are subqueries, and whose other names have all their parts. */
export type ExpandedQuery = {
  readonly text: DerivedText;
  /** The view whose query stands at a position of the text. */
  readonly viewAt: (position: number) => string | undefined;
};

/** A query as it stands in a statement. `rows` are names that stand for rows. */
type NamedText = {
  readonly sql: string;
  readonly references: QueryReferences;
  readonly defaults: NameDefaults;
  readonly rows: ReadonlySet<string>;
};

/** A name's text, and how many names it holds. `view` is the name of a view, for which `typed` has its columns without its query. */
type Source = { readonly text: string; readonly names: number; readonly view: string | null; readonly typed: string };

/**
 * Puts the queries of views in the place of their names. They are read with the rights of the reader, and with the catalog and namespace of
 * the view's version for names that leave them out:
 *
 *     FROM v AS x     ->     FROM (SELECT CAST("v"."a" AS BIGINT) AS "a" FROM (SELECT a FROM "lake"."s"."t") AS "v") AS x
 *
 * @throws INVALID_VIEW for one that reads itself, STATEMENT_TOO_COMPLEX, NOT_SUPPORTED for a dialect that is not ours, FORBIDDEN; positions
 * are byte offsets in the query
 */
export async function expandViews(query: NamedText, context: ViewContext): Promise<ExpandedQuery> {
  const expansion = new Expansion(context);
  const sources = await expansion.sources(query, []);
  const text = new EditedText(query.sql);
  const regions: { readonly start: number; readonly end: number; readonly view: string }[] = [];
  let length = 0;
  const { pieces } = spliceTables(query.sql, { ...query.references, stars: [] });
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      text.slice(piece.start, piece.start + piece.text.length, new Map());
      length += piece.text.length;
      continue;
    }
    const source = piece.kind === 'scan' ? must(sources[piece.scan], 'a source for each name') : null;
    const inserted = source === null ? textOf(piece) : ` ${source.text}`;
    text.insert(inserted);
    if (source?.view != null) regions.push({ start: length, end: length + inserted.length, view: source.view });
    length += inserted.length;
  }
  return { text, viewAt: (at) => regions.find(({ start, end }) => start <= at && at < end)?.view };
}

const textOf = (piece: { readonly kind: string; readonly text?: string }): string => piece.text ?? '';

class Expansion {
  readonly #context: ViewContext;
  /** The texts of views by name. */
  readonly #known = new Map<string, Source>();
  #names = 0;

  constructor(context: ViewContext) {
    this.#context = context;
  }

  /** The text that replaces each name. `within` are the views around the query, the outermost first. */
  async sources({ references, defaults, rows }: NamedText, within: readonly string[]): Promise<readonly Source[]> {
    const sources: Source[] = [];
    const found = await this.#load(references.tables, { defaults, rows });
    for (const [i, reference] of references.tables.entries()) {
      const source = found[i];
      if (source === undefined || source === null) {
        // The query of a view means the catalog that it was made in.
        const isInView = within.length > 0 && isSchemaView(reference) && reference.parts.length === 2;
        const parts = isInView ? [defaults.catalog, ...reference.parts] : reference.parts;
        sources.push(nameSource(reference, parts));
      } else if (source.loaded.kind !== 'view') sources.push(nameSource(reference, source.parts));
      else sources.push(await atReference(reference, this.#view(source.loaded, reference, within)));
      this.#names += must(sources[i], 'the source of this name').names;
      if (this.#names > NAMES_MAX) {
        throw new SkeinError('STATEMENT_TOO_COMPLEX', `the views of the statement name more than ${NAMES_MAX} tables`);
      }
    }
    return sources;
  }

  /** Null for a name that stands for rows. */
  async #load(tables: readonly TableReference[], { defaults, rows }: Pick<NamedText, 'defaults' | 'rows'>) {
    const names = tables.map((reference) =>
      isSchemaView(reference) || (reference.parts.length === 1 && rows.has(reference.parts[0] ?? ''))
        ? null
        : namesOf(reference, defaults).whole,
    );
    const asked = names.filter((name) => name !== null);
    const loaded = asked.length === 0 ? [] : await this.#context.tables.loadTables(asked, this.#context.signal);
    let next = 0;
    return names.map((name): { readonly loaded: LoadedTable; readonly parts: readonly string[] } | null => {
      if (name === null) return null;
      const answer = must(loaded[next++], 'one answer for each name');
      return { loaded: answer, parts: [name.catalog, name.namespace.join('.'), name.table] };
    });
  }

  async #view(loaded: LoadedView, { at }: TableReference, within: readonly string[]): Promise<Source> {
    const { catalog, namespace, table } = loaded.name;
    const view = [catalog, ...namespace, table].join('.');
    if (loaded.view.storageTable !== null) {
      requireTableAction(loaded, 'table.select');
      return this.#stored(loaded, { at });
    }
    if (at !== null) throw new SkeinError('NOT_SUPPORTED', `view ${view} has no versions of its rows: it takes no AT`);
    requireTableAction(loaded, 'table.select');
    const key = tableKey(loaded.name);
    if (within.includes(key)) throw new SkeinError('INVALID_VIEW', `view ${view} reads itself`);
    if (within.length >= DEPTH_MAX) {
      throw new SkeinError('STATEMENT_TOO_COMPLEX', `more than ${DEPTH_MAX} views read one another`);
    }
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const source = await inView(view, this.#expand(loaded, { view, within: [...within, key] }));
    this.#known.set(key, source);
    return source;
  }

  async #expand(
    loaded: LoadedView,
    { view, within }: { readonly view: string; readonly within: readonly string[] },
  ): Promise<Source> {
    const { view: definition, name } = loaded;
    const { defaultCatalog, defaultNamespace } = definition;
    const defaults = { catalog: defaultCatalog ?? name.catalog, schema: defaultNamespace.join('.') };
    const query = await readableQuery(definition, this.#context);
    const { text: sql } = checkShape(query.sql, VIEW_LIMITS);
    const references = await this.#context.parse(sql, defaults);
    const before = this.#names;
    const sources = await this.sources({ sql, references, defaults, rows: new Set() }, within);
    const names = this.#names - before;
    this.#names = before;
    const { pieces } = spliceTables(sql, { ...references, stars: [] });
    const textWith = (shown: 'text' | 'typed'): string =>
      pieces
        .map((piece) =>
          piece.kind === 'scan' ? ` ${must(sources[piece.scan], 'a source for each name')[shown]}` : textOf(piece),
        )
        .join('');
    const text = textWith('text');
    if (text.length > TEXT_MAX) {
      throw new SkeinError('STATEMENT_TOO_COMPLEX', `its query is longer than ${TEXT_MAX} characters with its views`);
    }
    if (query.dialect !== null) await checkMeaning(definition, query.dialect, textWith('typed'), this.#context);
    const rows = query.dialect === null ? `(${text}\n)` : `(${underNames(definition, text)})`;
    return { text: `(${castToView(definition, rows)})`, names: names + 1, view, typed: typedNulls(definition) };
  }

  /** A materialized view is read from its table. @throws NOT_POPULATED */
  async #stored({ view: definition, name }: LoadedView, { at }: Pick<TableReference, 'at'>): Promise<Source> {
    const { storageTable } = definition;
    const { namespace, name: table } = must(storageTable, 'a materialized view has a table');
    const view = [name.catalog, ...name.namespace, name.table].join('.');
    const stored = { catalog: name.catalog, namespace, table };
    const [loaded] = await this.#context.tables.loadTables([stored], this.#context.signal);
    if (loaded?.kind !== 'found') {
      throw new SkeinError('NOT_POPULATED', `materialized view ${view} has no rows yet: REFRESH MATERIALIZED VIEW it`);
    }
    const { text } = nameSource({ at }, [stored.catalog, namespace.join('.'), table]);
    return { text: `(${castToView(definition, text)})`, names: 1, view, typed: typedNulls(definition) };
  }
}

function nameSource({ at }: Pick<TableReference, 'at'>, parts: readonly string[]): Source {
  const name = parts.map(quoteIdentifier).join('.');
  const travel = at === null ? null : travelText(at);
  const text = travel === null ? name : `(FROM ${name} AT (${travel}))`;
  return { text, names: 1, view: null, typed: text };
}

/** Null for a parameter without a value. */
function travelText(at: TimeTravel): string | null {
  switch (at.kind) {
    case 'snapshot':
      return `VERSION => ${at.snapshotId}`;
    case 'ref':
      return `VERSION => ${quoteLiteral(at.ref)}`;
    case 'timestamp':
      return `TIMESTAMP => make_timestamptz(${at.micros})`;
    case 'current':
      return null;
  }
}

/** Gives an error the view's name in the place of a position in its text. */
async function inView<T>(view: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    throw viewError(thrown, view);
  }
}

/** The user's errors within a view's query carry its name. */
export function viewError(thrown: unknown, view: string, position?: number): SkeinError {
  const error = SkeinError.of(thrown);
  if (error.entry.kind !== 'user' && error.code !== 'STATEMENT_TOO_COMPLEX') return error;
  const message = error.message.startsWith('view ') ? error.message : `view ${view}: ${error.message}`;
  return error.at(position, message);
}

async function atReference<T>({ location }: TableReference, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    throw error.at(error.position ?? location);
  }
}

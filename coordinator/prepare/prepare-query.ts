// long file: one way, from the text of a query to its plan
import type { ScanColumn } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { placeContext, readerContext } from '#shared/sql/statement-context.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { bindTables, SEEN, type BoundScan, type BoundTable, type TableReading } from '../resolver/bind-tables.ts';
import { ByteOffsets } from '../resolver/byte-offsets.ts';
import type { NameDefaults, QueryReferences } from '../binding/query-references.ts';
import {
  parameterQuery,
  plannerSql,
  spliceTables,
  userPosition,
  workerSql,
  type SplicedQuery,
} from '../resolver/splice-tables.ts';
import { refuseTableForm } from '../resolver/table-form.ts';
import { expandViews, viewError } from '../resolver/view/expand-views.ts';
import { nameStatements } from '../resolver/name-statements.ts';
import type { StatementRows } from '../binding/table-source.ts';
import type { RowsBinding, StagedBinding } from '../binding/statement-binding.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import { applyPolicies } from './apply-policies.ts';
import type { PolicyRequest, PrepareQuery, PrepareRequest } from './prepare-request.ts';
import { CACHED_TEXT_MAX, ownerOf, parseQuery, shownNames, templateOf, type NamedQuery } from './parse-query.ts';
import { checkOperators, checkPlan, checkSources } from '../binding/check-plan.ts';
import type { Memory } from './memory.ts';
import { isPostgresQuery, postgresQuery } from './postgres-query.ts';
import { statementMemory } from './statement-memory.ts';
import { featuresOf, plannerScan, usesIn } from './plan-facts.ts';
import type { PlannedQuery } from './planned-query.ts';
import { newPlanMemory } from '../binding/plan-memory.ts';
import type {
  CompareReply,
  CompareRequest,
  DescribeReply,
  ParseRequest,
  TranslateRequest,
} from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { toTemplate, type QueryTemplate } from './query-template.ts';
import { SharedPlans, type SharedPlan } from './shared-plans.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';
import { outputOrigins, withOrigins } from './output-origins.ts';
import { resultColumns, describedColumns } from './result-columns.ts';
import { ViewAnswers } from './view-answers.ts';

/**
 * `prepareQuery` with its memory of earlier statements. A parse is kept by the text's template and the current catalog and schema; a plan by its text, its
 * parameters' names, the tables with their versions, the time zone, and the current catalog and schema, and only when it depends on no more of the
 * context than these; and, where it can be shared, by its template in place of its text. The query of policies is kept by its reader and his
 * roles, too. All are kept for one tenant. Tables are loaded and authorised every time.
 */
export function queryPreparer(options: { readonly cacheEntries: number; readonly cacheBytes: number }): PrepareQuery {
  const memory = statementMemory({ entriesMax: options.cacheEntries, bytesMax: options.cacheBytes });
  const caches = { parses: memory.parse, views: new ViewAnswers(memory) };
  const plans = memory.plan;
  const sharedPlans = new SharedPlans(memory.sharedPlan);
  const planned = async ({ query, references, bound }: Omit<BoundQuery, 'origins'>): Promise<PlannedQuery> => {
    const { sql, template, mayShare = false } = query;
    const isKept = references.placeAlone || query.asksReader === true;
    if (!isKept || sql.length > CACHED_TEXT_MAX) return plan(query, references, bound);
    const key = planKey(query, { key: sql, literals: [] }, bound);
    const known = plans.get(key);
    if (known !== undefined) return known;
    const sharedKey = template === null ? '' : planKey(query, template, bound);
    const shared = template === null || !mayShare ? undefined : sharedPlans.find(sharedKey, template.literals);
    if (shared !== undefined) return fromShared(shared, { query, references, bound });
    const made = await plan(query, references, bound);
    plans.set(ownerOf(query), key, made);
    if (template !== null) sharedPlans.add(ownerOf(query), sharedKey, made, template.literals);
    return made;
  };
  const prepare = async (request: PrepareRequest & Partial<PolicyRequest>): Promise<PreparedQuery> => {
    const bound = await bindNames(request, caches);
    return withTables(await planned(bound), bound, prepare);
  };
  return prepare;
}

/** Resolves the names of a query, and loads and authorises its tables. */
async function bindNames(
  request: PrepareRequest & Pick<ParseRequest, 'withoutValues'> & Partial<PolicyRequest>,
  caches: Caches,
): Promise<BoundQuery> {
  const { parses } = caches;
  const { context, offset, tables: source, signal } = request;
  const defaults = { catalog: context.currentCatalog, schema: context.currentSchema };
  const { text: own, statements } = nameStatements(request.sql);
  const toOwn = (character: number): number => offset + own.toSource(character);
  refuseTableForm(own.text, toOwn);
  const ownValues = own.places(request.values ?? []);
  const postgres = isPostgresQuery(own.text)
    ? await movedErrors((byte) => toOwn(new ByteOffsets(own.text).toCharacter(byte)))(
        postgresQuery(own.text, ownValues, request),
      )
    : null;
  const sql = postgres?.text.text ?? own.text;
  const toStatement = (character: number): number => toOwn(postgres?.text.toSource(character) ?? character);
  const values = postgres?.text.places(ownValues) ?? ownValues;
  const template = templateOf(sql);
  const types = postgres?.columns ?? null;
  const asked: NamedQuery = { ...request, sql, template, values, toStatement, types, viewAt: () => undefined };
  const inQuery = movedErrors((byte) => toStatement(new ByteOffsets(sql).toCharacter(byte)));
  const { references, query } = shownNames(await inQuery(parseQuery(asked, defaults, parses)), asked, statements);
  const rows: NamedRows = new Map<string, RowsBinding | StagedBinding | BoundScan>([
    ...(await movedErrors((character) => offset + character)(rowsOf(statements, source))),
    ...(request.below ?? []),
  ]);
  const { reading = SEEN, seesPolicies } = request;
  const bind = ({ tables, named }: QueryReferences, reads = reading) =>
    bindTables({ references: tables, named, defaults, source, rows, reading: reads, seesPolicies, signal });
  const bound = await inQuery(bind(references));
  const tables = bound.filter((table) => table.kind !== 'view');
  const origins = outputOrigins(references, bound);
  if (tables.length === bound.length) {
    return { query, references: boundReferences(references, tables), bound: tables, origins };
  }
  const expanded = await inQuery(expandQuery(query, references, { defaults, rows, ...caches }));
  const inExpanded = movedErrors(
    (byte) => expanded.toStatement(new ByteOffsets(expanded.sql).toCharacter(byte)),
    (byte) => expanded.viewAt(new ByteOffsets(expanded.sql).toCharacter(byte)),
  );
  const names = await inExpanded(parseQuery(expanded, defaults, parses));
  // A view is the work of whoever made it.
  const outside = (byte: number): boolean =>
    expanded.viewAt(new ByteOffsets(expanded.sql).toCharacter(byte)) === undefined;
  const reads: TableReading = reading.kind === 'seen' ? reading : { kind: 'addressed', isOwn: outside };
  const all = (await inExpanded(bind(names, reads))).filter((table) => table.kind !== 'view');
  return { query: expanded, references: boundReferences(names, all), bound: all, origins };
}

/** The query with the queries of its views in it. */
async function expandQuery(
  query: NamedQuery,
  references: QueryReferences,
  names: {
    readonly defaults: NameDefaults;
    readonly rows: NamedRows;
  } & Caches,
): Promise<NamedQuery> {
  const { defaults, rows, parses, views } = names;
  const parseView = (sql: string, viewDefaults: NameDefaults): Promise<QueryReferences> =>
    parseQuery({ ...query, sql, template: templateOf(sql), values: [], withoutValues: false }, viewDefaults, parses);
  const { asker, planner, tables, signal } = query;
  const context = {
    parse: parseView,
    tables,
    signal,
    translate: (asked: TranslateRequest) =>
      views.translated(ownerOf(query), asked, () => planner.translate(asked, asker, signal)),
    compare: (sql: string, wanted: ComparedWith) =>
      compareQuery({ ...query, sql, template: null, values: [] }, wanted, names),
  };
  const named = { sql: query.sql, references, defaults, rows: new Set(rows.keys()) };
  const { text, viewAt } = await expandViews(named, context);
  const sql = text.text;
  const toStatement = (character: number): number => query.toStatement(text.toSource(character));
  return { ...query, sql, template: templateOf(sql), values: text.places(query.values), toStatement, viewAt };
}

type Caches = { readonly parses: Memory<QueryReferences>; readonly views: ViewAnswers };
/** Keeps nothing, and so is no state. */
const nothing = <T>(): Memory<T> => ({ get: () => undefined, set: () => undefined });
const NOTHING_KEPT: Caches = {
  parses: nothing(),
  views: new ViewAnswers({ translation: nothing(), comparison: nothing() }),
};

type ComparedWith = Pick<CompareRequest, 'dialect' | 'types'>;

/** Binds the query of another engine's view over its tables as they are now. */
async function compareQuery(
  query: NamedQuery,
  wanted: ComparedWith,
  { defaults, parses, views }: { readonly defaults: NameDefaults } & Caches,
): Promise<CompareReply> {
  const { sql, context, asker, planner, tables: source, signal } = query;
  const { tables, named, ...references } = await parseQuery(query, defaults, parses);
  const loaded = await bindTables({ references: tables, named, defaults, source, rows: new Map(), signal });
  const bound = loaded.filter((table) => table.kind !== 'view');
  const spliced = spliceTables(sql, { ...references, named, tables });
  const { contextual } = references;
  const asked = { sql: plannerSql(spliced), scans: bound.map(plannerScan), context, contextual, ...wanted };
  const key = JSON.stringify([planKey(query, { key: sql, literals: [] }, bound), wanted]);
  return views.compared(ownerOf(query), key, () => planner.compare(asked, asker, signal));
}

/** Names among which are those of the columns that a star does not mean. */
const namesOf = (scan: Exclude<BoundTable, { kind: 'policed' }> | undefined): readonly string[] =>
  scan?.kind === 'iceberg'
    ? scan.addresses.map(({ name }) => name)
    : scan?.kind === 'rows'
      ? scan.rows.columns.map(({ name }) => name)
      : [];

/** The references with those address columns that their tables have, which a star leaves out, and the types of rows. */
function boundReferences(references: QueryReferences, bound: readonly BoundTable[]): QueryReferences {
  if (references.stars.length === 0 && !bound.some(({ kind }) => kind === 'rows')) return references;
  const tables = references.tables.map((table, i) => {
    const binding = bound[i];
    const scan = binding?.kind === 'policed' ? binding.table : binding;
    const names = new Set(namesOf(scan));
    const select = binding?.kind === 'rows' ? binding.rows.select : undefined;
    return { ...table, addresses: table.addresses.filter((name) => names.has(name)), select };
  });
  return { ...references, tables };
}

/** Binds a query whose parameters have no values yet: `values` are NULL. Nothing is kept. @throws as `PrepareQuery` */
export async function describeQuery(
  request: PrepareRequest,
): Promise<Omit<DescribeReply, 'columns'> & { readonly columns: PlannedQuery['columns'] | null }> {
  const { query, references, bound, origins } = await bindNames({ ...request, withoutValues: true }, NOTHING_KEPT);
  const { sql, values, context, asker, planner, signal } = query;
  const spliced = spliceTables(sql, references, values);
  const inQuery = plannerErrors(query, spliced);
  const scans = bound.map(plannerScan);
  const { contextual } = references;
  const texts = { sql: plannerSql(spliced), parameters: parameterQuery(spliced) };
  const reply = await inQuery(planner.describe({ ...texts, scans, context, contextual }, asker, signal));
  const { columns } = reply;
  return { ...reply, columns: columns === null ? null : withOrigins(describedColumns(columns, query), origins) };
}

type BoundQuery = {
  readonly query: NamedQuery;
  readonly references: QueryReferences;
  readonly bound: readonly BoundTable[];
  /** The tables and views that the statement names for its columns: other statements may have the same plan. */
  readonly origins: ReturnType<typeof outputOrigins>;
};

type NamedRows = ReadonlyMap<string, RowsBinding | StagedBinding | BoundScan>;

/** Runs the statements one after the other, because each may ask the catalog for many pages. */
async function rowsOf(
  statements: ReadonlyMap<string, TextSpan>,
  source: StatementRows,
): Promise<ReadonlyMap<string, RowsBinding | StagedBinding>> {
  const rows = new Map<string, RowsBinding | StagedBinding>();
  for (const [name, statement] of statements) rows.set(name, await source.rows(statement));
  return rows;
}

/** `text` is the query's template, or its text without any literal cut out. */
function planKey(query: NamedQuery, text: QueryTemplate, bound: readonly BoundTable[]): string {
  const { values, asker, context } = query;
  const reader = query.asksReader === true ? readerContext(context) : null;
  const { timeZone, currentCatalog, currentSchema } = context;
  const tables = bound.map((table) => {
    const { version, policies } = table.policies;
    const principal = policies.length === 0 ? null : asker.principal;
    return [...dataKey(table), table.kind, version, principal];
  });
  // Columns are named after parameters, not after their values.
  const parameters = values.map(({ start, spelled }) => [toTemplate(start, text.literals), spelled]);
  return JSON.stringify([asker.tenant, text.key, parameters, timeZone, currentCatalog, currentSchema, tables, reader]);
}

/** The facts of a table's columns and rows that a plan depends on. */
function dataKey(table: BoundTable): readonly unknown[] {
  switch (table.kind) {
    case 'iceberg':
      return [table.tableName, table.version, table.snapshotId, table.schemaId];
    case 'policed':
      return dataKey(table.table);
    case 'staged':
      return [table.table.columns.map(columnKey), table.table.rowCount];
    case 'rows':
      return [table.rows.columns.map(columnKey), roughly(table.rows.rowCount), table.rows.select];
    default:
      return unreachable(table);
  }
}

/** The number of rows of a view of INFORMATION_SCHEMA differs from schema to schema, and a plan needs to know its size alone. */
const roughly = (rows: number): number => (rows === 0 ? 0 : Math.ceil(Math.log2(rows)) + 1);

const columnKey = ({ name, type }: SqlField): readonly string[] => [name, printSqlType(type)];

/** Combines a planned query with the tables as they were authorised for this statement, and with the queries of their policies. */
async function withTables(
  { uses, ...made }: PlannedQuery,
  { query, references: { named }, bound, origins }: BoundQuery,
  prepare: (of: PolicyRequest) => Promise<PreparedQuery>,
): Promise<PreparedQuery> {
  const planned = { ...made, columns: withOrigins(made.columns, origins) };
  const names = named === null ? null : new Set(named);
  const used = (table: BoundScan, i: number): ScanBinding => {
    const use = uses[i];
    const readFieldIds = use?.readFieldIds ?? table.columns.map(({ fieldId }) => fieldId);
    const read = new Set(readFieldIds);
    const isNamed = ({ name, fieldId }: ScanColumn): boolean =>
      read.has(fieldId) || names?.has(foldIdentifier(name)) === true;
    return {
      ...bindingOf(table),
      predicate: use?.predicate ?? { kind: 'true' as const },
      ...(use?.rowsMax === undefined ? {} : { rowsMax: use.rowsMax }),
      readFieldIds,
      namedFieldIds: names === null ? null : table.columns.filter(isNamed).map(({ fieldId }) => fieldId),
    };
  };
  const scans = await Promise.all(
    bound.map(async (table, i): Promise<TableBinding> => {
      if (table.kind === 'iceberg') return used(table, i);
      if (table.kind !== 'policed') return table;
      return applyPolicies(table, used(table.table, i), { request: query, prepare });
    }),
  );
  const readings = scans.flatMap((scan) => (scan.kind === 'policed' ? [scan.reading] : []));
  if (readings.length === 0) return { ...planned, scans };
  return {
    ...planned,
    scans,
    asksReader: readings.some(({ contextual }) => contextual),
    bounds: [...new Set([...planned.bounds, ...readings.flatMap(({ bounds }) => bounds)])],
  };
}

/** A query whose plan was made for other literals: its text and its predicates are its own. */
const fromShared = (shared: SharedPlan, { query, references, bound }: Omit<BoundQuery, 'origins'>): PlannedQuery => ({
  ...shared.query,
  plan: shared.plan,
  isShared: true,
  workerSql: workerSql(spliceTables(query.sql, references)),
  uses: usesIn({ plan: shared.plan, large: null }, bound),
});

async function plan(
  query: NamedQuery,
  references: QueryReferences,
  bound: readonly BoundTable[],
): Promise<PlannedQuery> {
  const { sql, values, context, asker, planner, signal } = query;
  const spliced = spliceTables(sql, references, values);
  const scans = bound.map(plannerScan);
  const inPlan = plannerErrors(query, spliced);
  const { contextual, placeAlone } = references;
  const texts = { sql: plannerSql(spliced), parameters: parameterQuery(spliced) };
  const asked = { contextual, context: placeAlone ? placeContext(context) : context };
  const reply = await inPlan(planner.plan({ ...texts, scans, ...asked }, asker, signal));
  if (reply.plan !== null) checkPlan(reply.plan, bound.length);
  else if (reply.large !== null) checkSources(reply.large.sources, bound.length);
  else checkOperators(reply.operators);
  return {
    columns: resultColumns(reply, query, bound),
    plan: reply.plan,
    isShared: false,
    memory: newPlanMemory(),
    noPlan: reply.large === null ? 'has no printed form' : 'is too long to be divided',
    workerSql: workerSql(spliced),
    uses: usesIn(reply, bound),
    features: featuresOf(reply, bound),
    contextual,
    placeAlone,
    asksReader: false,
    bounds: [...references.bounds, ...reply.bounds],
  };
}

function bindingOf({
  fields: _fields,
  sqlFields: _sqlFields,
  oid: _oid,
  ...binding
}: BoundScan): Omit<BoundScan, 'fields' | 'sqlFields' | 'oid'> {
  return binding;
}

const plannerErrors = ({ toStatement, viewAt }: NamedQuery, spliced: SplicedQuery) =>
  movedErrors(
    (byte) => toStatement(userPosition(spliced, byte)),
    (byte) => viewAt(userPosition(spliced, byte)),
  );

/** Moves the positions of `work`'s errors to characters of the statement; one in the query of a view names the view. */
const movedErrors =
  (toStatement: (position: number) => number, viewAt: (position: number) => string | undefined = () => undefined) =>
  async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      if (error.position === undefined) throw error;
      const view = viewAt(error.position);
      if (view !== undefined) throw viewError(error, view, toStatement(error.position));
      throw error.at(toStatement(error.position));
    }
  };

// long file: one class, what a command may ask of queries
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { Place } from '../workload/admission.ts';
import type { ExplainFormat, ExplainOptions } from '../operation/explain-options.ts';
import type { Description } from '../operation/description.ts';
import type { PlannedRows } from '../operation/planned-rows.ts';
import type {
  PlannedLoad,
  Queries,
  ReturnedFiles,
  Returning,
  StatementReading,
  TextRows,
} from '../operation/queries.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { QueryColumn } from '../session/prepared-statement.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import { statementShape } from '../quarantine/statement-shape.ts';
import { stillReadable } from '../resolver/still-readable.ts';
import type { TextSpan } from '../statement/statement.ts';
import { arrangedQuery, requireUnordered } from './arrange-result.ts';
import { BoundedValues } from '../operation/bounded-values.ts';
import { constantsOf, constantsQuery } from './constants-query.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import { prove, type Proven, type TakePart } from '../statement/proven.ts';
import type { UnloadDestination, UnloadedQuery } from '../operation/unload.ts';
import { executeQuery, type FilesDestination, type QueryExecution, type QueryOutcome } from './execute-query.ts';
import { checkPolicyBody } from './check-policy-body.ts';
import type { PolicyBody, PolicySignature } from '../operation/policy-body.ts';
import type { KeptRows } from '../binding/kept-rows.ts';
import type { StageLoad } from '../operation/stage-load.ts';
import { analyzedQuery, explainQuery, QueryProfiles } from './explain-query.ts';
import { fillPivots } from '../prepare/fill-pivots.ts';
import { describeText } from './describe-text.ts';
import { hasOrder } from './has-order.ts';
import { makeStatementContext } from './make-statement-context.ts';
import { narrowToScope } from './narrow-to-scope.ts';
import type { QueryScope } from '../operation/refresh-request.ts';
import type { RunningStatement } from './running-statement.ts';
import type { StatementParts } from './statement-parts.ts';
import { taskContext } from './task-context.ts';
import { returningRows } from './returning-rows.ts';
import { planLoad, planRewrite, type PartsOf } from './parts-of-files.ts';
import { requireSameColumns } from '../sink/require-same-columns.ts';
import { typedColumns } from './typed-columns.ts';
import { prepareDerivedText } from './prepare-derived-text.ts';
import { filesOfQuery } from './files-of-query.ts';
import { planText, type PlanOptions } from './plan-text.ts';

/** The queries of one statement: gate, plan, admission, tasks, result. */
export class StatementQueries implements Queries {
  readonly #parts: StatementParts;
  #known: Promise<StatementContext> | undefined;
  #profiles: QueryProfiles | null = null;
  /** Costs of the queries that read the values of pivots. */
  readonly #forValues = { bytesScanned: 0, fragments: 0 };

  constructor(parts: StatementParts) {
    this.#parts = parts;
  }

  get kept(): KeptRows {
    return this.#parts.tables.kept;
  }

  in(scope: QueryScope): StatementQueries {
    return new StatementQueries({ ...this.#parts, scope });
  }

  async plan(query: TextSpan): Promise<{ readonly planned: PreparedQuery; readonly timeZone: string }> {
    const context = await this.#context();
    return { planned: await this.#prepare(query, context), timeZone: context.timeZone };
  }

  async policyBody(body: Proven<'expression'>, signature: PolicySignature): Promise<PolicyBody> {
    return checkPolicyBody(this.#parts, body, { signature, context: await this.#context() });
  }

  async columns(query: TextSpan): Promise<readonly QueryColumn[]> {
    return (await this.#prepare(query, await this.#context())).columns;
  }

  async describe(query: TextSpan, text = wholeText(query)): Promise<Description> {
    return describeText(this.#parts, query, text, await this.#context());
  }

  prove<T>(read: (take: TakePart) => T): Promise<T> {
    const { services, request, active } = this.#parts;
    const { tenant, sub: principal } = request.caller.claims;
    return prove(read, (parts) => services.compiler.planner.checkParts(parts, { tenant, principal }, active.signal));
  }

  async constants(expressions: readonly Proven<'expression'>[]): Promise<readonly string[]> {
    const { query, text, values } = constantsQuery(expressions);
    const context = await this.#context();
    const work = this.#parts.services.compiler.prepareQuery;
    return constantsOf(expressions, await prepareDerivedText(this.#parts, query, text, { context, values, work }));
  }

  async hasRows(sql: string): Promise<boolean> {
    const [query, at] = [
      { text: sql, offset: 0 },
      { context: await this.#context(), place: null },
    ];
    return (await this.#values(query, wholeText(query), at, 'raw')).length > 0;
  }

  async texts(
    query: TextSpan,
    text: DerivedText,
    rows: TextRows,
    reading?: StatementReading,
  ): Promise<Omit<Outcome, 'rowsProduced'>> {
    return this.#texts(query, text, { context: await this.#context(), place: null, rows }, reading);
  }

  forget(): void {
    this.#parts.tables.forget();
  }

  async run(query: TextSpan): Promise<Outcome> {
    const { sink } = this.#parts.request;
    const { signal } = this.#parts.active;
    const shape = this.#admittedShape(query);
    const context = await this.#context();
    const checked = async (place: Place | null, mayShare = true): Promise<PreparedQuery> => {
      const known = arrangedQuery(await this.#prepare(query, context, { place, mayShare }), this.#parts.request);
      await this.#parts.checkColumns(known.columns);
      sink.planned({ kind: 'rows', tag: this.#parts.tag, columns: known.columns, timeZone: context.timeZone });
      return known;
    };
    const prepared = await checked(null);
    const { rows, bytesScanned, fragments } = await executeQuery({
      ...this.#execution(prepared, context),
      shape,
      profile: false,
      destination: { kind: 'rows', encoding: sink.encoding },
      renew: (place) => this.#renewed(prepared, () => checked(place)),
      planAlone: (place) => checked(place, false),
      onStart: () => sink.start(),
      // A statement that was stopped may have been answered already.
      onBatch: (batch) => {
        signal.throwIfAborted();
        return sink.batch(batch);
      },
    });
    prepared.memory.lastRows = rows;
    return {
      rowsProduced: rows,
      bytesScanned: bytesScanned + this.#forValues.bytesScanned,
      fragments: fragments + this.#forValues.fragments,
    };
  }

  async planWrite(query: TextSpan, text: DerivedText, reading?: StatementReading): Promise<PlannedRows> {
    const planned = await this.#planFiles(query, text, reading);
    return {
      ...planned,
      into: async ({ sink, sql }) => {
        const { outcome, ...written } = await planned.into({ kind: 'files', sink: { kind: 'table', sink }, sql });
        return { ...written, files: outcome.files, replaced: outcome.replaced };
      },
    };
  }

  async planUnload(query: TextSpan): Promise<PlannedRows<UnloadedQuery, UnloadDestination>> {
    const planned = await this.#planFiles(query, wholeText(query));
    return {
      ...planned,
      into: async ({ sink, ...destination }) => {
        const files = { kind: 'files', sink: { kind: 'stage', sink }, ...destination } as const;
        const { outcome, bytesScanned, fragments } = await planned.into(files);
        return { tasks: outcome.unloaded, bytesScanned, fragments };
      },
    };
  }

  async #planFiles(
    query: TextSpan,
    text: DerivedText,
    reading?: StatementReading,
  ): Promise<PlannedRows<WrittenFiles, FilesDestination>> {
    const shape = this.#admittedShape(query);
    const context = await this.#context();
    const prepare = async (place: Place | null): Promise<PreparedQuery> => {
      // A text that was made of a VALUES list has no PIVOT.
      const found =
        text.text === query.text
          ? this.#prepare(query, context, { place })
          : this.#plan(query, text, context, { reading });
      read = narrowToScope(await found, this.#parts.scope);
      return read;
    };
    let read: PreparedQuery | undefined;
    const prepared = await prepare(null);
    const columns = typedColumns(prepared);
    const again = async (place: Place): Promise<PreparedQuery> => {
      const now = await prepare(place);
      requireSameColumns(columns, typedColumns(now));
      return now;
    };
    const into = async (destination: FilesDestination): Promise<WrittenFiles> => {
      const outcome = await this.#execute({
        ...this.#execution(prepared, context),
        shape,
        destination,
        renew: (place) => this.#renewed(prepared, () => again(place)),
        planAlone: again,
        onStart: () => undefined,
        onBatch: () => undefined,
      });
      const forValues = this.#forValues;
      return {
        outcome,
        scans: (read ?? prepared).scans,
        bytesScanned: outcome.bytesScanned + forValues.bytesScanned,
        fragments: outcome.fragments + forValues.fragments,
      };
    };
    return { columns, isOrdered: hasOrder(prepared.plan), into };
  }

  async files(query: TextSpan, text: DerivedText): Promise<readonly ScanFile[]> {
    const planned = await this.#plan(query, text, await this.#context(), { reading: 'raw' });
    return filesOfQuery(planned, query, this.#parts);
  }

  async returning(query: TextSpan, text: DerivedText, of: ReturnedFiles): Promise<Returning> {
    const shape = this.#admittedShape(query);
    const context = await this.#context();
    const planned = await this.#plan(query, text, context, { reading: 'raw' });
    const { request, tag } = this.#parts;
    requireUnordered(request);
    request.sink.planned({ kind: 'rows', tag, columns: planned.columns, timeZone: context.timeZone });
    const run = { ...this.#parts, query: planned, context, shape };
    return returningRows({ ...run, offset: query.offset, of });
  }

  async planRewrite(sql: string, parts: readonly (readonly ScanFile[])[]): Promise<PlannedRows> {
    const query = { text: sql, offset: 0 };
    return planRewrite({ query, parts }, await this.#inParts(query));
  }

  async planLoad(load: StageLoad): Promise<PlannedLoad> {
    return planLoad({ load, queries: this }, await this.#inParts(load.query));
  }

  async explain(
    query: TextSpan,
    options: ExplainOptions,
    text: DerivedText = wholeText(query),
    reading?: StatementReading,
  ): Promise<readonly string[]> {
    const context = await this.#context();
    const isQuery = text.text === query.text;
    const prepared = await (isQuery ? this.#prepare(query, context) : this.#plan(query, text, context, { reading }));
    return explainQuery(prepared, context, this.#parts, options);
  }

  profileAll(format: ExplainFormat): readonly (readonly string[])[] {
    this.#profiles = new QueryProfiles(this.#parts, format);
    return this.#profiles.lines;
  }

  async explainAnalyze(
    text: TextSpan,
    format: ExplainFormat,
  ): Promise<Outcome & { readonly lines: readonly string[] }> {
    const shape = this.#admittedShape(text);
    const context = await this.#context();
    const query = await this.#prepare(text, context);
    const planMs = this.#parts.active.elapsedMs();
    const outcome: QueryOutcome = await executeQuery({
      ...this.#execution(query, context),
      shape,
      profile: true,
      destination: { kind: 'rows', encoding: 'json' },
      renew: (place) => this.#renewed(query, () => this.#prepare(text, context, { place })),
      planAlone: (place) => this.#prepare(text, context, { place }),
      onStart: () => undefined,
      onBatch: () => undefined,
    });
    return analyzedQuery(outcome, planMs, this.#parts, format);
  }

  /** The query's shape. @throws STATEMENT_QUARANTINED, PRINCIPAL_LIMITED */
  #admittedShape({ text }: TextSpan): StatementShape {
    const { services, request, active } = this.#parts;
    const shape = statementShape(request.caller.claims, text, active.redactedSql);
    services.quarantine.check(shape);
    return shape;
  }

  #execution(
    query: PreparedQuery,
    context: StatementContext,
  ): RunningStatement & Pick<QueryExecution, 'query' | 'context' | 'place'> {
    return { ...this.#parts, query, context: taskContext(query, context), place: null };
  }

  async #inParts(query: TextSpan): Promise<PartsOf> {
    const at = { shape: this.#admittedShape(query), context: await this.#context() };
    const plan: PartsOf['plan'] = (of, text) => this.#plan(of, text, at.context, { reading: 'raw' });
    return { ...this.#parts, ...at, plan };
  }

  /** The same for all queries of the statement. */
  #context(): Promise<StatementContext> {
    return (this.#known ??= makeStatementContext(this.#parts));
  }

  /** The query as it runs: with the values of its pivots, which are read at the same `place` if the query has one. */
  async #prepare(
    query: TextSpan,
    context: StatementContext,
    { place = null, mayShare = false }: { readonly place?: Place | null; readonly mayShare?: boolean } = {},
  ): Promise<PreparedQuery> {
    const filled = await fillPivots(query, (values) => this.#values(query, values, { context, place }));
    return this.#plan(query, filled, context, { mayShare });
  }

  /**
   * Returns the query after its wait for a place. If one of its snapshots has expired, all tables of the statement are loaded again, so
   * that its queries still read one snapshot of each.
   */
  async #renewed(query: PreparedQuery, again: () => Promise<PreparedQuery>): Promise<PreparedQuery> {
    const { tables, source, active } = this.#parts;
    if (await stillReadable(query.scans, source, active.signal)) return query;
    tables.forget();
    return again();
  }

  /** Reads the one column of a query that the pivots of `query` need. */
  async #values(
    query: TextSpan,
    text: DerivedText,
    { context, place }: { readonly context: StatementContext; readonly place: Place | null },
    reading?: StatementReading,
  ): Promise<readonly string[]> {
    const rows = new BoundedValues();
    const { bytesScanned, fragments } = await this.#texts(query, text, { context, place, rows }, reading);
    this.#forValues.bytesScanned += bytesScanned;
    this.#forValues.fragments += fragments;
    return rows.values;
  }

  /** Runs a query of one text column for the statement itself. */
  async #texts(
    query: TextSpan,
    text: DerivedText,
    { context, place, rows }: TextsRun,
    reading?: StatementReading,
  ): Promise<QueryOutcome> {
    const { active } = this.#parts;
    const shape = this.#admittedShape(query);
    const plan = (): Promise<PreparedQuery> => this.#plan(query, text, context, { reading });
    const prepared = await plan();
    return this.#execute({
      ...this.#execution(prepared, context),
      place,
      renew: () => this.#renewed(prepared, plan),
      planAlone: plan,
      shape,
      destination: { kind: 'rows', encoding: 'json' },
      onStart: () => rows.start(),
      onBatch: ({ body }) => {
        active.signal.throwIfAborted();
        rows.add((JSON.parse(`[${body.toString().slice(1)}]`) as [string][]).map(([value]) => value));
        return undefined;
      },
    });
  }

  async #execute(execution: Omit<QueryExecution, 'profile'>): Promise<QueryOutcome> {
    this.#profiles?.begins();
    const outcome = await executeQuery({ ...execution, profile: this.#profiles !== null });
    this.#profiles?.add(outcome);
    return outcome;
  }

  /** Binds and plans a text that was made of the query. */
  #plan(
    query: TextSpan,
    text: DerivedText,
    context: StatementContext,
    options: PlanOptions = {},
  ): Promise<PreparedQuery> {
    return planText(this.#parts, { query, text, context, ...options });
  }
}

/** `scans`: the tables as they were read; the costs include those of values that the query needed. */
type WrittenFiles = Omit<Outcome, 'rowsProduced'> & {
  readonly outcome: QueryOutcome;
  readonly scans: PreparedQuery['scans'];
};

type TextsRun = { readonly context: StatementContext; readonly place: Place | null; readonly rows: TextRows };

// long file: one class, the work of one planner by its messages
import * as duckdb from '@duckdb/node-api';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { boundSql } from '#shared/sql/bounded-functions.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { contextSetupSql } from '#shared/sql/statement-context.ts';
import { differentColumn, differentMeaning } from '../dialect/check-meaning.ts';
import { dialectOf } from '../dialect/dialect.ts';
import { bodyNames } from '../resolver/body-names.ts';
import { findReferences } from '../resolver/find-references.ts';
import type { PendingTravel, QueryReferences, TimeTravel } from '../binding/query-references.ts';
import { boundOperators } from './bound-operators.ts';
import { boundText } from './bound-text.ts';
import { COLUMN_NAME_MACRO, columnNames } from './column-names.ts';
import { decodePlan } from './decode-plan.ts';
import { disabledOptimizers } from './disabled-optimizers.ts';
import { parseDuckDbJson } from './duckdb-json.ts';
import { executeSql, PARAMETER_STATEMENT } from './execute-sql.ts';
import { mayTruncate, opaqueTruncation } from './opaque-truncation.ts';
import { planningError } from './planning-error.ts';
import { reportedError } from './reported-error.ts';
import { scanFunction } from './scan-function.ts';
import { partRefusal } from './check-part.ts';
import { checkParts } from './check-parts.ts';
import type { Part } from '../statement/proven.ts';
import type { PartRefusal, PartText } from './part-text.ts';
import { columnName, isUnresolved, preparedColumns, type ParameterTypes } from './prepared-columns.ts';
import { fromDuckDbType } from './duckdb-type-of.ts';
import { checkReferences, checkResult } from './plan-text.ts';
import type { Plan } from '../plan/plan.ts';
import type {
  BindRequest,
  CompareReply,
  CompareRequest,
  DescribeReply,
  ParameterQuery,
  ParameterValue,
  ParseRequest,
  PlannerScan,
  PlanReply,
  PlanRequest,
  PrintedText,
} from '../binding/planner.ts';
import { SessionSettings } from './session-settings.ts';
import { printSqlType, type SqlField, type SqlType } from '../plan/sql-type.ts';

const PARSE = 'SELECT json_serialize_sql($1::VARCHAR, skip_null := false, skip_empty := false)';
const PLAN = (optimize: boolean): string =>
  `SELECT json_serialize_plan($1::VARCHAR, optimize := ${optimize}, skip_null := true, skip_empty := false)`;

/** One DuckDB that parses and plans, a statement at a time. It reads no file and holds no table. */
export class PlannerSession {
  readonly #instance: duckdb.DuckDBInstance;
  readonly #connection: duckdb.DuckDBConnection;
  /** Binds without optimising: for the names and types of a result. What a statement raises with `error(message)` meanwhile is marked as its own. */
  readonly #binder: duckdb.DuckDBConnection;
  readonly #parse: duckdb.DuckDBPreparedStatement;
  readonly #plan: duckdb.DuckDBPreparedStatement;
  readonly #planUnoptimized: duckdb.DuckDBPreparedStatement;
  readonly #settings: SessionSettings;
  #isSpoilt = false;
  #scans: readonly PlannerScan[] = [];

  private constructor(
    instance: duckdb.DuckDBInstance,
    connections: readonly duckdb.DuckDBConnection[],
    prepared: readonly duckdb.DuckDBPreparedStatement[],
  ) {
    this.#instance = instance;
    this.#connection = must(connections[0], 'a connection');
    this.#binder = must(connections[1], 'a second connection');
    this.#settings = new SessionSettings(this.#connection, this.#binder);
    this.#parse = must(prepared[0], 'a statement that parses');
    this.#plan = must(prepared[1], 'a statement that plans');
    this.#planUnoptimized = must(prepared[2], 'a statement that binds');
  }

  static async open(memoryLimitBytes: number): Promise<PlannerSession> {
    const instance = await duckdb.DuckDBInstance.create(':memory:', {
      threads: '1',
      memory_limit: `${Math.floor(memoryLimitBytes / 2 ** 20)}MiB`,
      temp_directory: '',
      enable_external_access: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    const binder = await instance.connect();
    for (const one of [connection, binder]) {
      for (const sql of [...contextSetupSql, 'SET errors_as_json = true']) await one.run(sql);
    }
    for (const macro of [...boundSql('raise'), COLUMN_NAME_MACRO]) await binder.run(macro);
    await binder.run("PRAGMA disable_optimizer; SET explain_output = 'all'");
    const prepared = [];
    for (const sql of [PARSE, PLAN(true), PLAN(false)]) prepared.push(await connection.prepare(sql));
    const session = new PlannerSession(instance, [connection, binder], prepared);
    connection.registerTableFunction(scanFunction((number) => session.#scans[number]));
    return session;
  }

  /** Whether DuckDB has had an internal error: it may take no further statement, and another session has to be opened. */
  get isSpoilt(): boolean {
    return this.#isSpoilt;
  }

  close(): void {
    this.#connection.closeSync();
    this.#binder.closeSync();
    this.#instance.closeSync();
  }

  async parse(request: ParseRequest): Promise<QueryReferences> {
    const tree = await this.#serialize(this.#parse, request.sql);
    const found = findReferences(tree, request.defaults);
    checkReferences(found);
    const tables = [];
    for (const table of found.tables) {
      const at = table.at?.kind === 'expression' ? await this.#travel(table.at, request) : table.at;
      tables.push({ ...table, at });
    }
    const parse = (sql: string): Promise<Json> => this.#serialize(this.#parse, sql);
    const names = await columnNames(request, tree, { binder: this.#binder, parse });
    return { ...found, tables, names, ...(request.isBody === true ? { body: bodyNames(tree) } : {}) };
  }

  async plan(request: PlanRequest): Promise<PlanReply> {
    await this.#setContext(request.context, request.contextual);
    this.#scans = request.scans;
    const columns = await this.#namedColumns(request);
    checkResult(columns);
    // Binding may have changed them.
    await this.#guard(() => this.#settings.disableOptimizers(disabledOptimizers(request.sql)));
    const opaque = mayTruncate(request.sql)
      ? await opaqueTruncation(this.#connection, () => this.#decoded(this.#plan, request.sql))
      : undefined;
    const plan = opaque ?? (await this.#tryPlan(request.sql));
    const operators = plan === null ? await this.#guard(() => boundOperators(this.#binder, request.sql)) : [];
    return { plan, large: null, operators, columns, bounds: opaque === undefined ? [] : ['truncation'] };
  }

  async bind(request: BindRequest): Promise<readonly (string | null)[]> {
    await this.#setContext(request.context, request.contextual);
    this.#scans = request.scans.map((columns) => ({ columns, fields: [], rowCount: null }));
    const refusals = [];
    for (const text of request.texts) refusals.push(await this.#refusal(text));
    return refusals;
  }

  /** @throws SYNTAX_ERROR for a part that is not one thing of its kind, with the place in its statement */
  checkParts(parts: readonly Part[]): Promise<void> {
    return checkParts(parts, (text) => this.#partRefusal(text));
  }

  async #partRefusal(text: PartText): Promise<PartRefusal | null> {
    try {
      return partRefusal(text, await this.#serialize(this.#parse, text.sql));
    } catch (thrown) {
      if (thrown instanceof RangeError) throw thrown;
      return { error: SkeinError.of(thrown).toData(), part: null };
    }
  }

  async compare({ sql, scans, context, contextual, dialect, types }: CompareRequest): Promise<CompareReply> {
    await this.#setContext(context, contextual);
    this.#scans = scans;
    const columns = checked(await this.#columns(sql));
    const bound = await this.#decoded(this.#planUnoptimized, sql).catch(() => null);
    const engine = must(dialectOf(dialect), 'a dialect that is translated');
    const different = differentMeaning(bound, engine) ?? differentColumn(columns, types);
    return { columns: columns.length, different };
  }

  async describe({ sql, parameters, scans, context, contextual }: PlanRequest): Promise<DescribeReply> {
    await this.#setContext(context, contextual);
    this.#scans = scans;
    if (parameters == null) return { columns: checked(await this.#columns(sql)), parameters: [] };
    // Positions are those of this text; what DuckDB binds with parameters alone, such as a field of one, it may refuse of a NULL.
    const refusal = await this.#columns(sql).then(
      () => null,
      (thrown: unknown) => SkeinError.of(thrown),
    );
    const { found, isResolved } = await this.#parameterTypes(parameters.sql).catch((thrown: unknown) => {
      const error = SkeinError.of(thrown);
      // Where DuckDB takes no parameter, the error says so.
      if (refusal !== null && error.code !== 'INVALID_REQUEST') throw refusal;
      throw error.at(undefined);
    });
    if (refusal !== null && !isResolved) throw refusal;
    const declared = parameters.values.filter(({ text }) => text !== 'NULL');
    const types =
      declared.length === 0 ? [] : await this.#columns(`SELECT ${declared.map(({ text }) => text).join(', ')}`);
    declared.forEach(({ name }, i) => found.set(name, must(types[i], 'a type for each value').type));
    const columns = await this.#executed(parameters, (prepared) => preparedColumns(prepared));
    return {
      columns: columns === null ? null : checked(columns),
      parameters: [...found].map(([name, type]) => ({ name, type })),
    };
  }

  /** The types that DuckDB expects in the places of parameters, where it finds them. @throws what its binder refuses */
  async #parameterTypes(sql: string): Promise<ParameterTypes> {
    await this.#settings.optimizeBinding(sql);
    const prepared = await this.#guard(() => this.#binder.prepare(sql));
    const found = new Map<string, SqlType>();
    try {
      for (let i = 1; i <= prepared.parameterCount; i += 1) {
        try {
          found.set(foldIdentifier(prepared.parameterName(i)), fromDuckDbType(prepared.parameterType(i)));
        } catch {
          // It has the type of its value, or the numbers before it have no parameter.
        }
      }
      return { found, isResolved: !isUnresolved(prepared) };
    } finally {
      prepared.destroySync();
    }
  }

  /** Returns the reason why DuckDB does not bind a text, or binds it to other types than its readers expect; else null. */
  async #refusal(printed: PrintedText): Promise<string | null> {
    const { gives } = printed;
    try {
      const whole = boundText(printed);
      if (whole.includes('\0')) return 'it holds a NUL character';
      const types = (await this.#columns(whole)).map(({ type }) => printSqlType(type));
      const isExpected = types.length === gives.length && types.every((type, i) => type === gives[i]);
      return isExpected ? null : `its columns are (${types.join(', ')}), not (${gives.join(', ')})`;
    } catch (thrown) {
      return SkeinError.of(thrown).message;
    }
  }

  async #decoded(statement: duckdb.DuckDBPreparedStatement, sql: string): Promise<Plan> {
    const json = await this.#serialize(statement, sql);
    const [plan] = (json as JsonObject)['plans'] as readonly JsonObject[];
    return decodePlan(must(plan, 'one plan for one query'));
  }

  /** Returns the optimised plan or, when that cannot be printed, the bound plan; null when neither can be printed. */
  async #tryPlan(sql: string): Promise<Plan | null> {
    for (const statement of [this.#plan, this.#planUnoptimized]) {
      try {
        return await this.#decoded(statement, sql);
      } catch {
        // The binder has accepted the query, so this is an error of the plan printer or of the optimiser, which folds constants. A constant
        // that overflows is the user's error; the worker will raise it again.
      }
    }
    return null;
  }

  async #namedColumns({ sql, parameters }: PlanRequest): Promise<SqlField[]> {
    const columns = await this.#columns(sql);
    const names = parameters == null ? null : await this.#parameterNames(parameters);
    if (names?.length !== columns.length) return columns;
    return columns.map((column, i) => ({ ...column, name: must(names[i], 'a name for each column') }));
  }

  /**
   * Returns the names of the columns of a query with parameters, as DuckDB's own EXECUTE gives them: `$1`, `($1 + 1)`. Null where DuckDB
   * takes no parameter (ORDER BY): the columns are then named after the values.
   * @throws INVALID_CAST, NUMERIC_OVERFLOW and INVALID_ARGUMENT for a value that is not of its type, with its place
   */
  async #parameterNames({ sql, values }: ParameterQuery): Promise<readonly string[] | null> {
    return this.#executed({ sql, values }, (prepared) =>
      Array.from({ length: prepared.columnCount }, (_, i) => columnName(prepared, i)),
    );
  }

  /** Binds a query's EXECUTE, and reads what it gives; null where DuckDB does not bind it. @throws as `#parameterNames` */
  async #executed<T>(
    { sql, values }: ParameterQuery,
    read: (prepared: duckdb.DuckDBPreparedStatement) => T,
  ): Promise<T | null> {
    await this.#settings.optimizeBinding(sql);
    try {
      await this.#binder.run(`PREPARE ${PARAMETER_STATEMENT} AS ${sql}`);
    } catch {
      return null;
    }
    const call = executeSql(values);
    try {
      const prepared = await this.#guard(() => this.#binder.prepare(call.sql));
      try {
        return read(prepared);
      } finally {
        prepared.destroySync();
      }
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      if (error.code === 'STATEMENT_TOO_COMPLEX') throw error;
      if (!VALUE_ERRORS.has(error.code)) return null;
      const value = call.valueAt(error.position) ?? (await this.#badValue(values));
      if (value === undefined) return null;
      throw error.at(value.location);
    } finally {
      await this.#binder.run(`DEALLOCATE ${PARAMETER_STATEMENT}`);
    }
  }

  /** Finds a value that cannot be evaluated, of which DuckDB's error does not give the place. */
  async #badValue(values: readonly ParameterValue[]): Promise<ParameterValue | undefined> {
    for (const value of values) {
      try {
        await this.#binder.run(`SELECT ${value.text}`);
      } catch {
        return value;
      }
    }
    return undefined;
  }

  async #columns(sql: string): Promise<SqlField[]> {
    await this.#settings.optimizeBinding(sql);
    const prepared = await this.#guard(() => this.#binder.prepare(sql));
    try {
      if (prepared.statementType !== duckdb.StatementType.SELECT) {
        throw new SkeinError('NOT_SUPPORTED', 'only queries are served here');
      }
      return preparedColumns(prepared);
    } finally {
      prepared.destroySync();
    }
  }

  /** Evaluates the constant expression in `AT (...)`. */
  async #travel({ unit, expression, location }: PendingTravel, request: ParseRequest): Promise<TimeTravel> {
    await this.#setContext(request.context, true);
    const tree = await this.#serialize(this.#parse, 'SELECT NULL');
    const statement = must(((tree as JsonObject)['statements'] as readonly JsonObject[])[0], 'one statement');
    const node = { ...(statement['node'] as JsonObject), select_list: [expression] };
    const place = { location, isLiteral: false };
    try {
      const [sql = null] = await this.#texts('SELECT json_deserialize_sql(CAST($1 AS JSON))', [
        printJson({ error: false, statements: [{ ...statement, node }] }),
      ]);
      const value =
        unit === 'version'
          ? `typeof(v), CAST(v AS VARCHAR)`
          : `'TIMESTAMP', CAST(epoch_us(CAST(v AS TIMESTAMP WITH TIME ZONE)) AS VARCHAR)`;
      const [type = null, text = null] = await this.#texts(`SELECT ${value} FROM (${sql}) AS t(v)`, []);
      if (text === null) {
        if (request.withoutValues === true) return { kind: 'current', ...place };
        throw new SkeinError('INVALID_REQUEST', 'AT wants a value, not NULL');
      }
      if (type === 'TIMESTAMP') return { kind: 'timestamp', micros: text, ...place };
      if (type === 'VARCHAR') return { kind: 'ref', ref: text, ...place };
      if (/^-?\d+$/.test(text)) return { kind: 'snapshot', snapshotId: text, ...place };
      throw new SkeinError('INVALID_REQUEST', 'VERSION wants a snapshot id, or the name of a branch or tag');
    } catch (thrown) {
      throw SkeinError.of(thrown).at(location);
    }
  }

  /** The first row of a query that gives texts. */
  async #texts(sql: string, values: string[]): Promise<readonly (string | null)[]> {
    const prepared = await this.#guard(() => this.#binder.prepare(sql));
    try {
      values.forEach((value, i) => prepared.bindVarchar(i + 1, value));
      const reader = await this.#guard(() => prepared.runAndReadAll());
      return (reader.getRows()[0] ?? []).map((value) => (typeof value === 'string' ? value : null));
    } finally {
      prepared.destroySync();
    }
  }

  /** @throws the error that the serializer reports, as one of the catalogue. */
  async #serialize(statement: duckdb.DuckDBPreparedStatement, sql: string): Promise<Json> {
    statement.bindVarchar(1, sql);
    const reader = await this.#guard(() => statement.runAndReadAll());
    const json = parseDuckDbJson(String(reader.getRows()[0]?.[0]));
    const report = json as JsonObject;
    if (report['error'] !== true) return json;
    throw reportedError(report, sql);
  }

  async #setContext(context: StatementContext, contextual: boolean): Promise<void> {
    await this.#guard(() => this.#settings.setContext(context, contextual));
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const planning = planningError(error.message);
      this.#isSpoilt ||= planning.code === 'ENGINE_FAULT';
      throw planning;
    }
  }
}

function checked(columns: SqlField[]): SqlField[] {
  checkResult(columns);
  return columns;
}

const VALUE_ERRORS: ReadonlySet<ErrorCode> = new Set(['INVALID_CAST', 'NUMERIC_OVERFLOW', 'INVALID_ARGUMENT']);

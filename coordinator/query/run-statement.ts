import type { StatementContext } from '#proto/task.ts';
import { parseDuration } from '#shared/config/config-schema.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { SkeinError } from '#shared/error.ts';
import { printJson } from '#shared/json.ts';
import { blankContext } from '#shared/sql/statement-context.ts';
import { requireScope } from '../auth/authenticate.ts';
import { explainDistributed } from '../distributor/explain-distributed.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import { statementShape } from '../quarantine/statement-shape.ts';
import { planScans } from '../scheduler/plan-scans.ts';
import { describeResult, runSessionStatement } from '../session/run-session-statement.ts';
import type { SessionKey } from '../session/session-store.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import { setting, type SessionState } from '../session/session.ts';
import { textResult, type SessionResult } from '../session/session-result.ts';
import { READ_STATEMENT, type StatementText } from '../statement/read-statement.ts';
import type { Statement, TextSpan } from '../statement/statement.ts';
import { ActiveQuery } from './active-query.ts';
import { answerInTime } from './answer-in-time.ts';
import { withPlace } from './error-place.ts';
import { distributeQuery } from './distribute-query.ts';
import { distributionSettings, executeQuery, type QueryExecution } from './execute-query.ts';
import { explainAnalyze } from './explain-analyze.ts';
import type { QueryKey, QueryRegistry } from './query-registry.ts';
import type { QueryService, StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** What a statement gave, for history. */
type Outcome = { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number };

/** Runs statements: gate, plan, admission, task, result; one path out that frees everything. */
export function statementRunner(services: RunnerServices): QueryService {
  return {
    execute: (request) => execute(services, request),
    timeoutMs: (session) => timeoutOf(services, session),
    quarantined: ({ claims }) => services.quarantine.list(claims.tenant),
    lift: ({ claims }, id) => services.quarantine.lift(claims.tenant, id),
    cancel: ({ claims }, queryId) =>
      services.registry.cancel(
        { tenant: claims.tenant, principal: claims.sub, queryId },
        new SkeinError('QUERY_CANCELLED', 'the query was cancelled by its user'),
      ),
  };
}

async function execute(services: RunnerServices, request: StatementRequest): Promise<void> {
  const { clock, registry, log, metrics } = services;
  const { claims } = request.caller;
  const key = { tenant: claims.tenant, principal: claims.sub, queryId: request.queryId };
  const active = new ActiveQuery({
    request,
    epoch: services.epoch,
    clock,
    record: services.record,
    onEnded: metrics.ended,
  });
  active.limit(request.timeoutMs ?? timeoutOf(services, request.session));
  const refused = register(registry, key, active.abort);
  const { redacted, parsed } = await readText(services, request, active.signal);
  active.received(redacted);
  let outcome: Outcome;
  try {
    if (refused !== undefined) throw refused;
    if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
    outcome = await answerInTime(active.signal, new StatementRun(services, request, active).run(parsed.statement));
    active.signal.throwIfAborted();
    active.completed(outcome);
  } catch (thrown) {
    const error = active.failed(withPlace(SkeinError.of(thrown), request.sql));
    const isOurs = error.entry.kind === 'internal' || error.entry.kind === 'external';
    log[isOurs ? 'error' : 'debug']({ queryId: request.queryId, err: error }, 'statement failed');
    throw error;
  } finally {
    if (refused === undefined) registry.remove(key);
    active.end();
  }
  request.sink.finish({ rowCount: outcome.rowsProduced, elapsedMs: active.elapsedMs() });
}

const timeoutOf = ({ sessions, config }: RunnerServices, session: SessionKey): number =>
  parseDuration(setting(sessions.store.get(session), 'skein.query_timeout', config));

/** The error when a statement of this id is active. */
function register(registry: QueryRegistry, key: QueryKey, abort: AbortController): SkeinError | undefined {
  try {
    registry.add(key, abort);
    return undefined;
  } catch (error) {
    return SkeinError.of(error);
  }
}

/** Never throws: history keeps a statement that could not be read, too. */
async function readText(
  { config, texts }: RunnerServices,
  { sql, caller: { claims } }: StatementRequest,
  signal: AbortSignal,
): Promise<StatementText> {
  const limits = {
    bytesMax: config['coordinator.statement_bytes_max'],
    depthMax: config['coordinator.statement_depth_max'],
  };
  const asker = { tenant: claims.tenant, principal: claims.sub };
  const bytes = Buffer.byteLength(sql);
  try {
    return await texts.work(READ_STATEMENT, { sql, limits }, { asker, what: 'the statement', bytes, signal });
  } catch (error) {
    const redacted = { text: `a statement of ${bytes} bytes, which was not read`, secrets: [] };
    return { redacted, parsed: { kind: 'refused', error: SkeinError.of(error).toData() } };
  }
}

/** One statement on its way. */
class StatementRun {
  readonly #services: RunnerServices;
  readonly #request: StatementRequest;
  readonly #active: ActiveQuery;
  readonly #state: SessionState;

  constructor(services: RunnerServices, request: StatementRequest, active: ActiveQuery) {
    this.#services = services;
    this.#request = request;
    this.#active = active;
    this.#state = services.sessions.store.get(request.session);
  }

  async run(statement: Statement): Promise<Outcome> {
    const { sessions } = this.#services;
    this.#active.describe({ queryType: QUERY_TYPES[statement.kind] });
    // A session whose timeout is too short for anything can be given another.
    if (!('query' in statement) && this.#request.timeoutMs === undefined) {
      this.#active.limit(this.#services.config['coordinator.query_timeout']);
    }
    if (statement.kind === 'query') return this.#query(statement.query);
    if (statement.kind === 'describeQuery') return this.#answer(await this.#describe(statement.query));
    if (statement.kind === 'explain') {
      return statement.analyze ? this.#explainAnalyze(statement) : this.#answer(await this.#explain(statement));
    }
    const { caller, session: key } = this.#request;
    const { signal } = this.#active;
    return this.#answer(await runSessionStatement(statement, { ...sessions, caller, key, signal }));
  }

  /** A result that is there already. */
  async #answer(result: SessionResult): Promise<Outcome> {
    const { sink } = this.#request;
    this.#active.signal.throwIfAborted();
    sink.start(result.columns);
    const text = result.rows.map((row) => `,${printJson(row)}`).join('');
    await sink.rows(Buffer.from(text));
    return { rowsProduced: result.rows.length, bytesScanned: 0, fragments: 0 };
  }

  async #query(span: TextSpan): Promise<Outcome> {
    const shape = this.#admittedShape(span);
    const context = await this.#context();
    const query = await this.#prepare(span, context);
    const { sink } = this.#request;
    const { signal } = this.#active;
    const { rows, bytesScanned, fragments } = await executeQuery({
      ...this.#execution(query, context),
      shape,
      profile: false,
      onStart: () => sink.start(query.columns),
      // A statement that was stopped may have been answered already.
      onRows: (bytes) => {
        signal.throwIfAborted();
        return sink.rows(bytes);
      },
    });
    return { rowsProduced: rows, bytesScanned, fragments };
  }

  async #describe(span: TextSpan): Promise<SessionResult> {
    const query = await this.#prepare(span, await this.#context());
    return describeResult(query.columns.map(({ name, typeName }) => [name, typeName, 'YES', null]));
  }

  async #explain({ query: span, type, format }: ExplainStatement): Promise<SessionResult> {
    const context = await this.#context();
    const query = await this.#prepare(span, context);
    const { front } = this.#services;
    if (type === 'logical') return planResult(front.explain(query, format));
    const { scheduler, tables, fileLists } = this.#services;
    const { tenant, sub: principal } = this.#request.caller.claims;
    using hold = new FileListHold(fileLists, tenant);
    const scanContext = { tables, tenant, hold, signal: this.#active.signal };
    const scans = await planScans(query.scans, scanContext);
    const settings = distributionSettings(this.#state, this.#services);
    const { checker, distributor: passes } = front;
    const asker = { tenant, principal };
    const plan = await distributeQuery(query, scans, {
      passes,
      scheduler,
      settings,
      scanContext,
      checker,
      context,
      asker,
    });
    const distributed = plan.kind === 'whole' ? plan : plan.distributed;
    const bindings = plan.kind === 'whole' ? query.scans : plan.bindings;
    return planResult(explainDistributed(distributed, { scans: bindings }, format));
  }

  /** Runs the query, throws its rows away, and tells how it went. */
  async #explainAnalyze({ query: span, format }: ExplainStatement): Promise<Outcome> {
    const shape = this.#admittedShape(span);
    const context = await this.#context();
    const query = await this.#prepare(span, context);
    const planMs = this.#active.elapsedMs();
    const outcome = await executeQuery({
      ...this.#execution(query, context),
      shape,
      profile: true,
      onStart: () => undefined,
      onRows: () => undefined,
    });
    const runMs = this.#active.elapsedMs() - planMs;
    const plan = this.#services.front.explain(query, 'text');
    const lines = explainAnalyze({ plan, outcome, planMs, runMs }, format);
    const { bytesScanned, fragments } = outcome;
    return { ...(await this.#answer(planResult(lines))), bytesScanned, fragments };
  }

  /** The query's shape. @throws STATEMENT_QUARANTINED, PRINCIPAL_LIMITED */
  #admittedShape({ text }: TextSpan): StatementShape {
    const shape = statementShape(this.#request.caller.claims, text, this.#active.redactedSql);
    this.#services.quarantine.check(shape);
    return shape;
  }

  #execution(
    query: PreparedQuery,
    context: StatementContext,
  ): Omit<QueryExecution, 'shape' | 'profile' | 'onStart' | 'onRows'> {
    return {
      services: this.#services,
      request: this.#request,
      active: this.#active,
      state: this.#state,
      query,
      context: query.contextual ? context : blankContext(context.timeZone),
    };
  }

  async #context(): Promise<StatementContext> {
    const { sessions, clock, config } = this.#services;
    const { claims } = this.#request.caller;
    const { catalog, schema } = await sessions.names.current(claims.tenant, this.#state);
    return {
      nowMicros: `${clock.nowMs()}000`,
      timeZone: setting(this.#state, 'timezone', config),
      currentUser: claims.preferred_username,
      currentCatalog: catalog,
      currentSchema: schemaName(schema),
    };
  }

  async #prepare(span: TextSpan, context: StatementContext): Promise<PreparedQuery> {
    requireScope(this.#request.caller, 'table:read');
    const { front, sessions, metrics } = this.#services;
    const { prepareQuery, planner } = front;
    const { tenant, sub: principal } = this.#request.caller.claims;
    const tables = sessions.catalog.tablesFor(tenant, principal);
    const startMs = this.#active.elapsedMs();
    const { signal } = this.#active;
    const { text: sql, offset } = span;
    const asker = { tenant, principal };
    const query = await prepareQuery({ sql, offset, context, asker, tables, planner, signal });
    metrics.planned(this.#active.elapsedMs() - startMs);
    return query;
  }
}

type ExplainStatement = Extract<Statement, { kind: 'explain' }>;

const planResult = (lines: readonly string[]): SessionResult =>
  textResult(
    ['plan'],
    lines.map((line) => [line]),
  );

/** As history names it (service specification, Query history record). */
const QUERY_TYPES = {
  query: 'select',
  explain: 'explain',
  describeQuery: 'describe',
  describeTable: 'describe',
  set: 'set',
  reset: 'reset',
  resetAll: 'reset',
  use: 'use',
  useCatalog: 'use',
  showCatalogs: 'show',
  showSchemas: 'show',
  showTables: 'show',
  showSetting: 'show',
  showAll: 'show',
  begin: 'transaction',
  commit: 'transaction',
  rollback: 'transaction',
} as const satisfies Record<Statement['kind'], string>;

import type { StatementContext } from '#proto/task.ts';
import { printJson } from '#shared/json.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { blankContext } from '#shared/sql/statement-context.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { Answer } from '../command/answer.ts';
import type {
  CommandContext,
  ExplainFormat,
  ExplainOptions,
  Outcome,
  Queries,
  QueryColumn,
} from '../command/command.ts';
import { explainDistributed } from '../distributor/explain-distributed.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { StatementShape } from '../quarantine/quarantine.ts';
import { statementShape } from '../quarantine/statement-shape.ts';
import { planScans } from '../scheduler/plan-scans.ts';
import { setting, type SessionState } from '../session/session.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { ActiveQuery } from './active-query.ts';
import { distributeQuery } from './distribute-query.ts';
import { distributionSettings, executeQuery, type QueryExecution, type QueryOutcome } from './execute-query.ts';
import { explainAnalyze } from './explain-analyze.ts';
import type { StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** A statement on its way, as its command sees it. */
export function commandContext(
  services: RunnerServices,
  request: StatementRequest,
  active: ActiveQuery,
): CommandContext {
  const { store, names, catalog } = services.sessions;
  const session = store.get(request.session);
  return {
    caller: request.caller,
    config: services.config,
    signal: active.signal,
    session,
    updateSession: (change) => store.update(request.session, change),
    names,
    catalog,
    queries: new StatementQueries({ services, request, active, session }),
    answer: (rows) => answer(rows, request, active),
  };
}

async function answer(
  { columns, rows }: Answer,
  { sink }: StatementRequest,
  { signal }: ActiveQuery,
): Promise<Outcome> {
  signal.throwIfAborted();
  sink.start(columns);
  await sink.rows(Buffer.from(rows.map((row) => `,${printJson(row)}`).join('')));
  return { rowsProduced: rows.length, bytesScanned: 0, fragments: 0 };
}

type StatementParts = {
  readonly services: RunnerServices;
  readonly request: StatementRequest;
  readonly active: ActiveQuery;
  readonly session: SessionState;
};

/** The queries of one statement: gate, plan, admission, tasks, result. */
class StatementQueries implements Queries {
  readonly #parts: StatementParts;

  constructor(parts: StatementParts) {
    this.#parts = parts;
  }

  async columns(query: TextSpan): Promise<readonly QueryColumn[]> {
    return (await this.#prepare(query, await this.#context())).columns;
  }

  async run(query: TextSpan): Promise<Outcome> {
    const { sink } = this.#parts.request;
    const { signal } = this.#parts.active;
    const shape = this.#admittedShape(query);
    const context = await this.#context();
    const prepared = await this.#prepare(query, context);
    const { rows, bytesScanned, fragments } = await executeQuery({
      ...this.#execution(prepared, context),
      shape,
      profile: false,
      onStart: () => sink.start(prepared.columns),
      // A statement that was stopped may have been answered already.
      onRows: (bytes) => {
        signal.throwIfAborted();
        return sink.rows(bytes);
      },
    });
    return { rowsProduced: rows, bytesScanned, fragments };
  }

  async explain(text: TextSpan, { type, format }: ExplainOptions): Promise<readonly string[]> {
    const { services, request, active, session } = this.#parts;
    const { front, scheduler, tables, fileLists } = services;
    const context = await this.#context();
    const query = await this.#prepare(text, context);
    if (type === 'logical') return front.explain(query, format);
    const { tenant, sub: principal } = request.caller.claims;
    using hold = new FileListHold(fileLists, tenant);
    const scanContext = { tables, tenant, hold, signal: active.signal };
    const scans = await planScans(query.scans, scanContext);
    const settings = distributionSettings(session, services);
    const { checker, distributor: passes } = front;
    const asker = { tenant, principal };
    const distribution = { passes, scheduler, settings, scanContext, checker, context, asker };
    const plan = await distributeQuery(query, scans, distribution);
    const distributed = plan.kind === 'whole' ? plan : plan.distributed;
    const bindings = plan.kind === 'whole' ? query.scans : plan.bindings;
    return explainDistributed(distributed, { scans: bindings }, format);
  }

  async explainAnalyze(
    text: TextSpan,
    format: ExplainFormat,
  ): Promise<Outcome & { readonly lines: readonly string[] }> {
    const { services, active } = this.#parts;
    const shape = this.#admittedShape(text);
    const context = await this.#context();
    const query = await this.#prepare(text, context);
    const planMs = active.elapsedMs();
    const outcome: QueryOutcome = await executeQuery({
      ...this.#execution(query, context),
      shape,
      profile: true,
      onStart: () => undefined,
      onRows: () => undefined,
    });
    const runMs = active.elapsedMs() - planMs;
    const plan = services.front.explain(query, 'text');
    const { rows: rowsProduced, bytesScanned, fragments } = outcome;
    const lines = explainAnalyze({ plan, outcome, planMs, runMs }, format);
    return { lines, rowsProduced, bytesScanned, fragments };
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
  ): Omit<QueryExecution, 'shape' | 'profile' | 'onStart' | 'onRows'> {
    const { services, request, active, session: state } = this.#parts;
    const known = query.contextual ? context : blankContext(context.timeZone);
    return { services, request, active, state, query, context: known };
  }

  async #context(): Promise<StatementContext> {
    const { services, request, session } = this.#parts;
    const { sessions, clock, config } = services;
    const { claims } = request.caller;
    const { catalog, schema } = await sessions.names.current(claims.tenant, session);
    return {
      nowMicros: `${clock.nowMs()}000`,
      timeZone: setting(session, 'timezone', config),
      currentUser: claims.preferred_username,
      currentCatalog: catalog,
      currentSchema: schemaName(schema),
    };
  }

  async #prepare({ text: sql, offset }: TextSpan, context: StatementContext): Promise<PreparedQuery> {
    const { services, request, active } = this.#parts;
    const { front, sessions, metrics } = services;
    const { prepareQuery, planner } = front;
    const { tenant, sub: principal } = request.caller.claims;
    const tables = sessions.catalog.tablesFor(tenant, principal);
    const startMs = active.elapsedMs();
    const { signal } = active;
    const asker = { tenant, principal };
    const query = await prepareQuery({ sql, offset, context, asker, tables, planner, signal });
    metrics.planned(active.elapsedMs() - startMs);
    return query;
  }
}

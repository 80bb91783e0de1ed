import type { StatementContext } from '#shared/sql/statement-context.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import type { ExplainFormat, ExplainOptions } from '../operation/explain-options.ts';
import { explainDistributed } from '../distributor/explain-distributed.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { planScans } from '../scheduler/plan-scans.ts';
import { distributeQuery } from '../scheduler/distribute-query.ts';
import { distributionSettings, type QueryOutcome } from './execute-query.ts';
import { explainAnalyze } from './explain-analyze.ts';
import { classOf, withClass } from './explain-class.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { RunningStatement } from './running-statement.ts';
import { keysOf } from './keys-of.ts';

/** The lines of a query's plan: as DuckDB has optimised it, or in the fragments that would run now. */
export async function explainQuery(
  query: PreparedQuery,
  context: StatementContext,
  running: RunningStatement,
  { type, format }: ExplainOptions,
): Promise<readonly string[]> {
  const { services, request, active, session } = running;
  const { compiler, scheduler, tables, fileLists } = services;
  const { tenant, sub: principal } = request.caller.claims;
  const workload = await classOf(query, running);
  if (type === 'logical') return withClass(compiler.explain(query, format), workload, format);
  using hold = new FileListHold(fileLists, tenant);
  const scanContext = { tables, tenant, hold, signal: active.signal, freshKey: keysOf(services, tenant) };
  const scans = await planScans(query.scans, scanContext);
  const settings = distributionSettings(session, services);
  const { checker, distributor: passes } = compiler;
  const distribution = { passes, scheduler, settings, scanContext, checker, context, asker: { tenant, principal } };
  const plan = await distributeQuery(query, scans, distribution);
  const distributed = plan.kind === 'whole' ? plan : plan.distributed;
  const bindings = plan.kind === 'whole' ? query.scans : plan.bindings;
  return withClass(explainDistributed(distributed, { scans: bindings }, format), workload, format);
}

/** The facts of a query's run that depend on who reads of it. */
const told = ({ query }: QueryOutcome, { classification }: RunningStatement['active']) => ({
  classification,
  hidesKeys: query.scans.some((scan) => scan.kind === 'policed' && !scan.reading.seesPolicies),
});

/** The lines of EXPLAIN ANALYZE of a query that has run, and what it has cost. */
export function analyzedQuery(
  outcome: QueryOutcome,
  planMs: number,
  { services, active }: RunningStatement,
  format: ExplainFormat,
): Outcome & { readonly lines: readonly string[] } {
  const runMs = active.elapsedMs() - planMs;
  const plan = services.compiler.explain(outcome.query, 'text');
  const lines = explainAnalyze({ plan, outcome, planMs, runMs, ...told(outcome, active) }, format);
  return { lines, rowsProduced: outcome.rows, bytesScanned: outcome.bytesScanned, fragments: outcome.fragments };
}

/** How the queries of a statement that writes went. */
export class QueryProfiles {
  readonly #running: RunningStatement;
  readonly #format: ExplainFormat;
  readonly #lines: (readonly string[])[] = [];
  /** End of the query before, and of the plan of this one, in ms since the statement came. */
  #lastMs = 0;
  #plannedMs = 0;

  constructor(running: RunningStatement, format: ExplainFormat) {
    this.#running = running;
    this.#format = format;
  }

  /** The lines of each query that has run. */
  get lines(): readonly (readonly string[])[] {
    return this.#lines;
  }

  /** A query that is planned begins to run. */
  begins(): void {
    this.#plannedMs = this.#running.active.elapsedMs();
  }

  add(outcome: QueryOutcome): void {
    const { services, active } = this.#running;
    const nowMs = active.elapsedMs();
    const times = { planMs: this.#plannedMs - this.#lastMs, runMs: nowMs - this.#plannedMs };
    const plan = services.compiler.explain(outcome.query, 'text');
    this.#lines.push(explainAnalyze({ plan, outcome, ...times, ...told(outcome, active) }, this.#format));
    this.#lastMs = nowMs;
  }
}

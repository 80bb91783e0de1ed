import type { DuckDBConnection } from '@duckdb/node-api';
import { advance } from '#coordinator/distributor/advance.ts';
import { distribute } from '#coordinator/distributor/distribute.ts';
import type {
  DistributedPlan,
  DistributionFacts,
  DistributionSettings,
  Fragment,
  FragmentInput,
  ScanFacts,
  StageFacts,
  WholePlan,
} from '#coordinator/distributor/fragment.ts';
import { DISTRIBUTION_LIMITS, type DistributionLimits } from '#coordinator/distributor/limits.ts';
import { separateScans } from '#coordinator/distributor/shape/separate-scans.ts';
import { shapePlan } from '#coordinator/distributor/shape/shape-plan.ts';
import { queryPreparer } from '#coordinator/prepare/prepare-query.ts';
import { FragmentChecker } from '#coordinator/distributor/check-fragments.ts';
import { icebergScans, SCRIPTED_ASKER, tablesAlone } from './scripted/tables.ts';
import type { PreparedQuery } from '#coordinator/binding/prepared-query.ts';
import { mapChildren, walkPlan } from '#coordinator/plan/plan-tree.ts';
import type { Plan } from '#coordinator/plan/plan.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { printSqlType } from '#coordinator/plan/sql-type.ts';
import { fieldType } from '#coordinator/plan/iceberg-sql-type.ts';
import type { ScanBinding } from '#coordinator/binding/scan-binding.ts';
import type { SqlText } from '#shared/task/sql-text.ts';
import { schemaById } from '#shared/iceberg/table-metadata.ts';
import { printJson, type Json } from '#shared/json.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { contextSetupSql, contextVariablesSql } from '#shared/sql/statement-context.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { apiValue } from '#test/slt/duckdb-engine.ts';
import { duckdbTables } from './duckdb-tables.ts';
import { patience } from '#test/support/run/slowness.ts';

/** How a query is distributed in a test. */
export type RunOptions = {
  readonly workers: number;
  readonly settings?: Partial<DistributionSettings>;
  readonly limits?: Partial<DistributionLimits>;
};

export type RunAnswer = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Json[])[];
  /** The plans in the order in which they were made, one per wave of stages; or why it ran whole. */
  readonly plans: readonly (DistributedPlan | WholePlan)[];
};

/** The coordinator's planning and distribution over one DuckDB that plays all workers: no cluster, no Arrow, the same SQL texts. */
export interface DistributedRunner {
  /**
   * Runs a query in fragments, one task after another, each stage's output a table of the same DuckDB. Scans are divided row by row,
   * so that every task has some. @throws what planning or DuckDB throws; Error when a planner does not bind a fragment.
   */
  run(sql: string, options: RunOptions): Promise<RunAnswer>;
  /** The plan after each pass, and with its exchanges; the texts of its scans as one DuckDB has them. */
  steps(sql: string, options: RunOptions): Promise<readonly PlanStep[]>;
}

export type PlanStep = {
  readonly name: string;
  readonly plan: Plan;
  readonly scanSql: (scan: number) => string;
};

const CONTEXT = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'tester',
  currentCatalog: 'lake',
} as const;
const WAVES_MAX = 100;
const CHECK_TIMEOUT_MS = patience(60_000);

/** `connection` has the tables, and is used by nobody else while a query runs; names without a schema mean `schema`. */
export async function distributedRunner(connection: DuckDBConnection, schema: string): Promise<DistributedRunner> {
  const planner = await sessionPlanner();
  const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
  const tables = tablesAlone(duckdbTables(connection));
  const context = { ...CONTEXT, currentSchema: schema };
  for (const sql of [...contextSetupSql, ...contextVariablesSql(context)]) await connection.run(sql);
  const facts = scanFactsOf(connection);
  const checker = new FragmentChecker(planner, silentLogger, () => undefined);
  const prepared = (sql: string): Promise<PreparedQuery> =>
    prepare({
      sql,
      offset: 0,
      context,
      asker: SCRIPTED_ASKER,
      tables,
      planner,
      signal: AbortSignal.timeout(patience(120_000)),
    });
  return {
    steps: async (sql, options) => {
      const separate = separateScans(withPlan(await prepared(sql)));
      const [{ plan }, scans] = [separate, icebergScans(separate.scans)];
      const text = (scan: number): string => scanSql(must(scans[scan], 'a scan'), null);
      const steps: PlanStep[] = [];
      const shaped = shapePlan(plan, { onPass: (name, after) => steps.push({ name, plan: after, scanSql: text }) });
      const made = new QueryRun(connection, options).distribute(shaped, await Promise.all(scans.map(facts)));
      if (made.kind === 'distributed') steps.push({ name: 'exchanges', plan: placedPlan(made.plan), scanSql: text });
      return steps;
    },
    run: async (sql, options) => {
      const query = await prepared(sql);
      const columns = query.columns.map(({ name }) => name);
      const run = new QueryRun(connection, options);
      try {
        if (query.plan === null) {
          const whole: WholePlan = { kind: 'whole', reason: 'DuckDB does not print its plan' };
          return { columns, rows: await run.whole(query.workerSql, icebergScans(query.scans)), plans: [whole] };
        }
        const separate = separateScans({ plan: query.plan, scans: query.scans });
        const bindings = icebergScans(separate.scans);
        const scans = await Promise.all(bindings.map(facts));
        const checked = { memory: query.memory, scans: separate.scans, context, contextual: true };
        const { rows, plans } = await run.distributed(shapePlan(separate.plan), bindings, scans, {
          sql: query.workerSql,
          scans: icebergScans(query.scans),
          check: async (fragments) => {
            const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
            const refused = await checker.check(fragments, { ...checked, asker: SCRIPTED_ASKER, signal });
            if (refused !== null) throw new Error(refused.reason);
          },
        });
        return { columns, rows, plans };
      } finally {
        await run.drop();
      }
    },
  };
}

const withPlan = (query: PreparedQuery): PreparedQuery & { readonly plan: Plan } => ({
  ...query,
  plan: must(query.plan, 'a plan that DuckDB prints'),
});

/** Replaces the stages of a common table expression by scans of it. */
function placedPlan(plan: Plan): Plan {
  const ctes = new Map<number, number>();
  for (const node of walkPlan(plan)) {
    if (node.kind === 'cte' && node.definition.kind === 'exchange') ctes.set(node.definition.stage, node.index);
  }
  const restore = (node: Plan): Plan => {
    const index = node.kind === 'stage' ? ctes.get(node.stage) : undefined;
    if (node.kind !== 'stage' || index === undefined) return mapChildren(node, restore);
    return { kind: 'cteScan', index, columns: node.columns };
  };
  return restore(plan);
}

class QueryRun {
  readonly #connection: DuckDBConnection;
  readonly #options: RunOptions;
  readonly #stages = new Map<number, StageFacts>();
  readonly #tables: string[] = [];

  constructor(connection: DuckDBConnection, options: RunOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async distributed(
    shaped: Plan,
    bindings: readonly ScanBinding[],
    scans: readonly ScanFacts[],
    original: {
      readonly sql: SqlText;
      readonly scans: readonly ScanBinding[];
      readonly check: (fragments: readonly Fragment[]) => Promise<void>;
    },
  ): Promise<Omit<RunAnswer, 'columns'>> {
    const plans: (DistributedPlan | WholePlan)[] = [];
    let plan = shaped;
    let nextStage = 1;
    for (let wave = 0; wave < WAVES_MAX; wave++) {
      const made = this.distribute(plan, scans, nextStage);
      plans.push(made);
      if (made.kind === 'whole') return { rows: await this.whole(original.sql, original.scans), plans };
      await original.check(made.fragments);
      nextStage = made.nextStage;
      const last = must(made.fragments.at(-1), 'a fragment gives the result');
      if (made.fragments.length === 1) return { rows: await this.#result(last, bindings), plans };
      const ready = made.fragments.filter(
        (fragment) => fragment !== last && fragment.inputs.every(({ stage }) => this.#stages.has(stage)),
      );
      if (ready.length === 0) throw new Error('no fragment can run');
      for (const fragment of ready) await this.#runStage(fragment, bindings);
      plan = advance(made, new Set(ready.map(({ stage }) => stage)));
    }
    throw new Error(`not done after ${WAVES_MAX} waves`);
  }

  distribute(plan: Plan, scans: readonly ScanFacts[], nextStage = 1): DistributedPlan | WholePlan {
    return distribute(plan, this.#facts(scans, nextStage), { ...DISTRIBUTION_LIMITS, ...this.#options.limits });
  }

  #facts(scans: readonly ScanFacts[], nextStage: number): DistributionFacts {
    const settings = {
      distribution: 'force',
      joinDistribution: 'auto',
      partitions: null,
      stageWidth: 1,
      ...this.#options.settings,
    } as const;
    const workers = Array.from({ length: this.#options.workers }, (_, i) => ({
      slots: 1,
      machine: { id: String(i), cores: 1 },
    }));
    return { scans, stages: this.#stages, cluster: { workers }, settings, nextStage };
  }

  async whole(sql: SqlText, scans: readonly ScanBinding[]): Promise<readonly (readonly Json[])[]> {
    const text = sql.map((part) => {
      if (typeof part === 'string') return part;
      return 'scan' in part ? scanSql(must(scans[part.scan], 'a scan'), null) : '';
    });
    return this.#rows(text.join(''));
  }

  async #rows(sql: string): Promise<readonly (readonly Json[])[]> {
    const result = await this.#connection.runAndReadAll(sql);
    const types = result.columnTypes();
    return result.getRows().map((row) => row.map((value, i) => apiValue(value, types[i])));
  }

  async #result(fragment: Fragment, bindings: readonly ScanBinding[]): Promise<readonly (readonly Json[])[]> {
    const rows: (readonly Json[])[] = [];
    for (let task = 0; task < this.#taskCount(fragment); task++) {
      rows.push(...(await this.#rows(this.#text(fragment, bindings, task))));
    }
    return rows;
  }

  #taskCount({ tasks, inputs }: Fragment): number {
    if (tasks.kind === 'single') return 1;
    if (tasks.kind === 'splits') return this.#options.workers;
    const counts = new Set(
      inputs.filter(({ read }) => read === 'partition').map(({ stage }) => this.#stage(stage).partitions.length),
    );
    if (counts.size !== 1) throw new Error('the inputs of a fragment have different numbers of partitions');
    return must([...counts][0], 'a number of partitions');
  }

  #stage = (stage: number): StageFacts => must(this.#stages.get(stage), 'a stage that has run');

  #text(fragment: Fragment, bindings: readonly ScanBinding[], task: number): string {
    const tasks = this.#taskCount(fragment);
    return fragment.sql
      .map((part) => {
        if (typeof part === 'string') return part;
        if ('scan' in part) {
          const { scan, read } = must(fragment.scans[part.scan], 'a scan of the fragment');
          return scanSql(must(bindings[scan], 'a scan of the plan'), read === 'split' ? { task, tasks } : null);
        }
        return this.#inputSql(must(fragment.inputs[part.input], 'an input of the fragment'), task, tasks);
      })
      .join('');
  }

  #inputSql({ stage, read, fields }: FragmentInput, task: number, tasks: number): string {
    const columns = fields.map((_, i) => `c${i}`).join(', ');
    const where = {
      all: 'true',
      partition: `partition_ = ${task}`,
      share: `task_ % ${tasks} = ${task}`,
    }[read];
    return `(SELECT ${columns} FROM stage_${stage} WHERE ${where})`;
  }

  async #runStage(fragment: Fragment, bindings: readonly ScanBinding[]): Promise<void> {
    const { stage, fields, partitions, output } = fragment;
    const table = `stage_${stage}`;
    const names = fields.map((_, i) => `c${i}`);
    const types = fields.map((field, i) => `c${i} ${printSqlType(field.type)}`);
    await this.#connection.run(
      `CREATE TEMP TABLE ${table} (${[...types, 'partition_ UINTEGER', 'task_ INTEGER'].join(', ')})`,
    );
    this.#tables.push(table);
    const tasks = this.#taskCount(fragment);
    const columns = partitions > 1 ? [...names, 'p'] : names;
    for (let task = 0; task < tasks; task++) {
      const text = this.#text(fragment, bindings, task);
      // The tasks of a fragment differ in the rows that they read, not in their types.
      if (task === 0) {
        const made = await this.#connection.prepare(text);
        checkTypes(
          fragment,
          Array.from({ length: made.columnCount }, (_, i) => String(made.columnType(i))),
        );
        made.destroySync();
      }
      await this.#connection.run(
        `INSERT INTO ${table} SELECT ${[...names, partitions > 1 ? 'p' : '0', String(task)].join(', ')}
         FROM (${text}) AS t(${columns.join(', ')})`,
      );
    }
    const counts = await this.#connection.runAndReadAll(`SELECT partition_, count(*) FROM ${table} GROUP BY ALL`);
    const byPartition = new Map(counts.getRows().map(([partition, rows]) => [Number(partition), Number(rows)]));
    const width = fields.length * 8;
    const sizes = Array.from({ length: partitions }, (_, i) => byPartition.get(i) ?? 0);
    const rows = sizes.reduce((sum, one) => sum + one, 0);
    this.#stages.set(stage, {
      rows,
      bytes: rows * width,
      output: must(output, 'a stage has an output'),
      partitions: sizes.map((size) => ({ rows: size, bytes: size * width })),
      tasks,
    });
  }

  async drop(): Promise<void> {
    for (const table of this.#tables) await this.#connection.run(`DROP TABLE IF EXISTS ${table}`);
  }
}

/** Checks that a stage's output has the types that the coordinator expects, on which the reader's Arrow schema depends. */
function checkTypes({ stage, fields, partitions }: Fragment, actual: readonly string[]): void {
  const expected = fields.map(({ type }) => printSqlType(type));
  const made = actual.slice(0, partitions > 1 ? -1 : undefined);
  if (made.length !== expected.length)
    throw new Error(`stage ${stage}: ${made.length} columns, not ${expected.length}`);
  for (const [i, type] of expected.entries()) {
    if (normalType(type) !== normalType(must(made[i], 'a type'))) {
      throw new Error(`stage ${stage}: column ${i} is ${made[i]}, not ${type}`);
    }
  }
}

const normalType = (type: string): string => type.replaceAll('"', '').replaceAll(' ', '');

/** A table as a scan's text has it: the columns of the binding, in its types. */
function scanSql({ name, metadata, schemaId }: ScanBinding, share: { task: number; tasks: number } | null): string {
  const fields = schemaById(metadata, schemaId).fields.map(fieldType);
  const columns = fields.map(
    ({ name: column, type }) =>
      `CAST(${quoteIdentifier(column)} AS ${printSqlType(type)}) AS ${quoteIdentifier(column)}`,
  );
  const from = `${quoteIdentifier(name.namespace.join('.'))}.${quoteIdentifier(name.table)}`;
  const where = share === null ? '' : ` WHERE rowid % ${share.tasks} = ${share.task}`;
  return `(SELECT ${columns.join(', ')} FROM ${from}${where})`;
}

/** Makes statistics like those of manifests: row counts and bounds. */
function scanFactsOf(connection: DuckDBConnection): (scan: ScanBinding) => Promise<ScanFacts> {
  const known = new Map<string, Promise<ScanFacts>>();
  const load = async ({ name, rowCount, columns }: ScanBinding): Promise<ScanFacts> => {
    const from = `${quoteIdentifier(name.namespace.join('.'))}.${quoteIdentifier(name.table)}`;
    const rows = rowCount ?? 0;
    const facts = [];
    for (const column of columns) {
      const quoted = quoteIdentifier(column.name);
      const isNumber = typeof column.type === 'string' && /^(int|long|date)$/.test(column.type);
      const value = column.type === 'date' ? `date_diff('day', DATE '1970-01-01', ${quoted})` : quoted;
      const bounds = isNumber ? `min(${value})::DOUBLE, max(${value})::DOUBLE` : 'NULL, NULL';
      const found = await connection.runAndReadAll(`SELECT ${bounds}, count(*) - count(${quoted}) FROM ${from}`);
      const [lower, upper, nulls] = must(found.getRows()[0], 'a row');
      const [low, high] = [lower, upper].map((one) => (typeof one === 'number' ? one : null));
      const distinctMax = low == null || high == null ? null : high - low + 1;
      facts.push({ distinctMax, nulls: Number(nulls), lower: low ?? null, upper: high ?? null });
    }
    return { rows, bytes: rows * 8 * columns.length, files: rows === 0 ? 0 : 1, columns: facts };
  };
  return (scan) => {
    const key = printJson([scan.name.namespace, scan.name.table]);
    const found = known.get(key) ?? load(scan);
    known.set(key, found);
    return found;
  };
}

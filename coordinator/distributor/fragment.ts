import type { SqlText } from '#proto/task.ts';
import type { Partitioning, Plan } from '../planner/plan.ts';
import type { SqlField } from '../planner/sql-type.ts';

/**
 * A plan cut at its exchanges: each fragment is one SQL text that several tasks run, each with its share of the leaves.
 * ```
 * plan with exchanges -> fragments (producers before readers, the last one gives the result)
 * ```
 */
export type Fragment = {
  /** Number of its stage: unique in a query, also when the rest of it is planned again. */
  readonly stage: number;
  readonly plan: Plan;
  /** Where its rows go; null for the last fragment, whose rows are the result. */
  readonly output: Partitioning | null;
  /** Partitions of a `hash` output; 1 for every other. */
  readonly partitions: number;
  readonly fields: readonly SqlField[];
  /** Columns `c0`, `c1`, ...; with more than one partition, one more that is the partition's number. */
  readonly sql: SqlText;
  /** `SqlText`'s `{ scan }` numbers, in order: positions in the plan's table list, and whether the tasks divide its files. */
  readonly scans: readonly { readonly scan: number; readonly read: 'split' | 'all' }[];
  /** `SqlText`'s `{ input }` numbers, in order. */
  readonly inputs: readonly FragmentInput[];
  readonly tasks: TaskShape;
  /** Run again, a task gives the same rows: no `random()`, no LIMIT without order, no sample. */
  readonly repeatable: boolean;
  readonly estimate: { readonly rows: number; readonly bytes: number };
  /** Why it is placed so, for EXPLAIN. */
  readonly reason: string;
};

export type FragmentInput = {
  readonly stage: number;
  readonly read: 'partition' | 'all' | 'share';
  readonly fields: readonly SqlField[];
  /** How often the text names it. */
  readonly reads: number;
  /**
   * Of a `partition` input: its rows may be divided among several tasks that each read the other inputs' partition whole, because
   * nothing in the fragment brings rows of this input together (the preserved or inner side of joins, partial aggregates above).
   * A partition that is much bigger than the others is divided so. Absent = no.
   */
  readonly dividable?: true;
};

/**
 * How a fragment becomes tasks. `single`: one task reads everything. `splits`: the files of its `split` scans are handed out by demand;
 * `share` inputs likewise. `partitions`: task i reads partition i of its `partition` inputs. What is read as `all` goes to every task.
 */
export type TaskShape = { readonly kind: 'single' } | { readonly kind: 'splits' } | { readonly kind: 'partitions' };

/** What is known of a scan when a query is distributed, its files pruned. */
export type ScanFacts = {
  readonly rows: number;
  readonly bytes: number;
  readonly files: number;
  /** By the column's position in the table's column list (`PlanColumn.index`): what the manifests say; may be empty. */
  readonly columns: readonly ColumnFacts[];
};

export type ColumnFacts = {
  /** Upper bound of the number of distinct values, from an integer or date column's bounds; null when unknown. */
  readonly distinctMax: number | null;
  /** Rows that are NULL; null when unknown. */
  readonly nulls: number | null;
  /** Bounds, roughly: numbers by their value, dates and timestamps in days since 1970; absent or null when unknown. */
  readonly lower?: number | null;
  readonly upper?: number | null;
  /** Bytes of a value in memory; absent or null: by its type. */
  readonly widthBytes?: number | null;
};

/** What is known of a stage that has run. */
export type StageFacts = {
  readonly rows: number;
  readonly bytes: number;
  readonly output: Partitioning;
  /** Rows of each partition, over all of its tasks. */
  readonly partitions: readonly { readonly rows: number; readonly bytes: number }[];
  readonly tasks: number;
};

export type DistributionSettings = {
  readonly distribution: 'auto' | 'single' | 'force';
  readonly joinDistribution: 'auto' | 'broadcast' | 'partitioned';
  /** Partitions of a hash exchange; null = chosen. */
  readonly partitions: number | null;
};

/** The cluster as it is when a query, or the rest of one, is distributed. */
export type ClusterFacts = {
  /** Slots of each worker that takes tasks, and the machine whose cores they run on. */
  readonly workers: readonly {
    readonly slots: number;
    readonly machine: { readonly id: string; readonly cores: number };
  }[];
};

export type DistributionFacts = {
  readonly scans: readonly ScanFacts[];
  readonly stages: ReadonlyMap<number, StageFacts>;
  readonly cluster: ClusterFacts;
  readonly settings: DistributionSettings;
  /** The number of the next stage. */
  readonly nextStage: number;
};

/** A query as it will run, as far as is known now. */
export type DistributedPlan = {
  readonly kind: 'distributed';
  /** What was distributed: no exchanges; stages that have run are leaves. */
  readonly source: Plan;
  /** The same with exchanges and the joins' distributions. */
  readonly plan: Plan;
  /** Producers before readers; the last gives the result. */
  readonly fragments: readonly Fragment[];
  /** For the order in which the stages run. */
  readonly joins: readonly JoinSides[];
  /** For `advance`: what the rest of the query is when a stage has run. */
  readonly replacements: readonly Replacement[];
  /** The number of the next stage. */
  readonly nextStage: number;
};

/** The sides of a join that both wait for stages. */
export type JoinSides = { readonly left: JoinSide; readonly right: JoinSide };
/** `bytes`: what the side gives to the join, as estimated; `stages`: those nearest to the join, also such as have run. */
export type JoinSide = { readonly bytes: number; readonly stages: readonly number[] };

/** When `stage` has run, `by` stands for the node `replaces` of the plan that was distributed. */
export type Replacement = { readonly stage: number; readonly replaces: Plan; readonly by: Plan };

/**
 * The whole query on one worker, and why. It may also come when some stages have run: what they gave is then of no use, and the query
 * starts again, whole.
 */
export type WholePlan = { readonly kind: 'whole'; readonly reason: string };

import type { SqlText } from '#shared/task/sql-text.ts';
import type { Partitioning, Plan } from '../plan/plan.ts';
import type { SqlField } from '../plan/sql-type.ts';

/** Cores of a task: at most so many, all of its worker's, or a share of them by which a stage uses every core once (`stageRooms`). */
export type TaskWidth = number | 'worker' | 'share';

/** An SQL text that tasks run, each with its share of the leaves. */
type FragmentWork = {
  /** Number of the fragment's stage. It is unique in a query, even after the rest of the query is planned again. */
  readonly stage: number;
  /** Partitions of a `hash` output; 1 for every other. */
  readonly partitions: number;
  readonly sql: SqlText;
  /**
   * The scans that `SqlText`'s `{ scan }` numbers index: each one's position in the plan's table list, and whether tasks divide its files.
   */
  readonly scans: readonly { readonly scan: number; readonly read: 'split' | 'all' }[];
  /** The inputs that `SqlText`'s `{ input }` numbers index. */
  readonly inputs: readonly FragmentInput[];
  readonly tasks: TaskShape;
  /** Cores of each of its tasks. */
  readonly width: TaskWidth;
  /** See `TaskSpec.collected`. */
  readonly collected: boolean;
  /**
   * Its text applies the policies of a table, and was not printed from its plan; its readers see only what `seesPolicies` allows of it.
   * `isInline`: the statement's own text is in it, too, so that an error may be of either.
   */
  readonly policed?: { readonly seesPolicies: boolean; readonly isInline?: true };
  /** A task that runs again gives the same rows: the plan has no order-sensitive node, such as LIMIT, DISTINCT ON or a sample. */
  readonly repeatable: boolean;
};

/**
 * One part of a plan that was cut at its exchanges.
 * ```
 * plan with exchanges -> fragments (producers before readers, the last one gives the result)
 * ```
 * Its text was printed from its plan: the columns are `c0`, `c1`, ...; with more than one partition, a last column holds the partition
 * number.
 */
export type Fragment = FragmentWork & {
  readonly plan: Plan;
  /** The exchange that distributes the fragment's rows to its readers; null for the last fragment, whose rows are the result. */
  readonly output: Partitioning | null;
  readonly fields: readonly SqlField[];
  readonly estimate: { readonly rows: number; readonly bytes: number };
  /** The reason for the fragment's exchange, for EXPLAIN. */
  readonly reason: string;
};

/** A query that runs whole: one fragment of one task, whose text is the statement's own. */
export type WholeFragment = FragmentWork & {
  readonly plan: null;
};

/** A fragment as its tasks see it. */
export type TaskFragment = Fragment | WholeFragment;

export type FragmentInput = {
  readonly stage: number;
  readonly read: 'partition' | 'all' | 'share';
  readonly fields: readonly SqlField[];
  /** Number of times that the fragment's SQL text reads this input. */
  readonly reads: number;
  /**
   * Set on a `partition` input whose rows may be divided among several tasks that each read the other inputs' partition whole, because
   * no node of the fragment combines rows of this input with each other (the preserved or inner side of joins, partial aggregates above).
   * A partition that is much bigger than the others is divided so. Absent = no.
   */
  readonly dividable?: true;
};

/**
 * How a fragment becomes tasks. `single`: one task reads everything. `splits`: the files of its `split` scans are handed out by demand;
 * `share` inputs likewise. `partitions`: task i reads partition i of its `partition` inputs. What is read as `all` goes to every task.
 * `parts`: task i carries part i of rows that a client has sent.
 */
export type TaskShape = { readonly kind: 'single' | 'splits' | 'partitions' | 'parts' };

/** Statistics of a scan, after its files were pruned, that the distributor decides by. */
export type ScanFacts = {
  readonly rows: number;
  readonly bytes: number;
  readonly files: number;
  /**
   * Column statistics from the manifests, indexed by the column's position in the table's column list (`PlanColumn.index`); may be empty.
   */
  readonly columns: readonly ColumnFacts[];
  /** Its rows travel with every task that reads them, so there are no files to divide. */
  readonly isInline?: true;
};

export type ColumnFacts = {
  /** Number of distinct values by ANALYZE, or at most so many by an integer or date column's bounds; null when unknown. */
  readonly distinctMax: number | null;
  /** Rows that are NULL; null when unknown. */
  readonly nulls: number | null;
  /** Bounds, roughly: numbers by their value, dates and timestamps in days since 1970; absent or null when unknown. */
  readonly lower?: number | null;
  readonly upper?: number | null;
  /** Bytes of a value in memory; when absent or null, the type decides. */
  readonly widthBytes?: number | null;
};

/** Exact counts of a stage that has run. */
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
  /** Partitions of a hash exchange; null = the distributor chooses. */
  readonly partitions: number | null;
  /** Cores of each task of a stage. */
  readonly stageWidth: TaskWidth;
  /**
   * How scans are narrowed by the keys of build sides that have run: `bounds` by the bounds of the keys and by short lists of them, `auto`
   * (the default) also by stages that hold sets of up to two million keys.
   */
  readonly dynamicFilters?: 'auto' | 'bounds' | 'off';
  /** One task gives all rows of the result. */
  readonly inOneTask?: boolean;
};

/** The state of the cluster at the time when a query, or the rest of one, is distributed. */
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
  /** None of `stages` has run: these are the stages that apply policies, with what they are expected to give. */
  readonly isFirst?: boolean;
};

/** A query's distribution by the facts known so far; later stages may be planned again. */
export type DistributedPlan = {
  readonly kind: 'distributed';
  /** The plan before distribution: it has no exchanges, and stages that have run are leaves. */
  readonly source: Plan;
  /** The plan after distribution, with exchanges and the joins' distributions. */
  readonly plan: Plan;
  /** Producers before readers; the last gives the result. */
  readonly fragments: readonly Fragment[];
  /** The joins that wait for stages on both sides; the scheduler orders the stages by them. */
  readonly joins: readonly JoinSides[];
  /** The nodes that `advance` replaces when a stage has run. */
  readonly replacements: readonly Replacement[];
  /** The number of the next stage. */
  readonly nextStage: number;
};

/** The two sides of a join, both of which wait for stages. */
export type JoinSides = { readonly left: JoinSide; readonly right: JoinSide };
/** `bytes`: estimated output of the side; `stages`: the stages nearest to the join, including those that have run. */
export type JoinSide = { readonly bytes: number; readonly stages: readonly number[] };

/** After `stage` has run, the node `by` takes the place of the node `replaces` in the source plan. */
export type Replacement = { readonly stage: number; readonly replaces: Plan; readonly by: Plan };

/**
 * The decision to run the whole query on one worker, and its reason. It may also come after some stages have run: their output is then
 * discarded, and the query starts again as a whole.
 */
export type WholePlan = { readonly kind: 'whole'; readonly reason: string };

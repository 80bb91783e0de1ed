import type { ErrorData } from '#shared/error.ts';
import type { TaskId, QueryId, PrincipalId, TenantId } from '#shared/id.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { JsonObject, Json } from '#shared/json.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';

/**
 * What a coordinator sends a worker to run: one fragment's SQL with its share of the scans. Travels as JSON (`task-codec.ts`) in
 * `StartTaskRequest.spec`, covered by a signed ticket (`shared/ticket.ts`).
 */
export type TaskSpec = {
  readonly queryId: QueryId;
  readonly taskId: TaskId;
  /** Epoch of the coordinator that owns the query; a worker refuses an older one than it has seen. */
  readonly epoch: number;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly sql: SqlText;
  readonly scans: readonly ScanSpec[];
  /** What earlier stages gave, as `{ input }` of the text. */
  readonly inputs: readonly InputSpec[];
  readonly output: OutputSpec;
  readonly context: StatementContext;
  /**
   * The text is a fragment of a plan: its joins run in the order in which they stand there, which the whole query's statistics gave. A
   * worker sees only what it reads itself.
   */
  readonly keepJoinOrder: boolean;
  /**
   * Its rows are collected before the first is given, so that no piece of work lasts until there are rows. Else they are streamed: a slow
   * reader then slows the task, and costs no memory.
   */
  readonly collected: boolean;
  readonly memoryLimitBytes: number;
  readonly spillLimitBytes: number;
  /** Cores: 1 = a narrow task; more = a wide one. */
  readonly threads: number;
  /** Scheduled milliseconds of the query so far, over the whole cluster: the MLFQ level it starts at. */
  readonly scheduledMs: number;
  /** Priority High and above: always level 0. */
  readonly pinnedToTop: boolean;
  /** EXPLAIN ANALYZE: the report carries DuckDB's operator tree. */
  readonly profile: boolean;
  /** Functions of the text that are bounded by macros while it runs. */
  readonly bounds: readonly BoundedFamily[];
};

/** A task without what only its slot reads, which may be large; the roots are those of each scan. */
export type TaskHead = Omit<TaskSpec, 'sql' | 'scans'> & { readonly allowedRoots: readonly (readonly string[])[] };

/** A task as a worker's main thread has it; `body` is the rest, for its slot. */
export type SentTask = TaskHead & { readonly body: Uint8Array };

/**
 * SQL in which tables stand as numbers of `TaskSpec.scans`, and what other tasks gave as numbers of `TaskSpec.inputs`: only the worker
 * knows how they are printed (local paths, deletes; table functions, temporary tables).
 */
export type SqlText = readonly (string | { readonly scan: number } | { readonly input: number })[];

/** Rows of an earlier stage that this task reads: partitions of finished tasks' output. */
export type InputSpec = {
  /** As the text names them; `type` in DuckDB's spelling. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly sources: readonly InputSource[];
  /** How often the text names it: more than once makes it a temporary table. */
  readonly reads: number;
};

/** One partition of one finished task's output, on the worker that holds it. */
export type InputSource = {
  /** Of the worker's Flight service. */
  readonly address: string;
  readonly taskId: TaskId;
  readonly partition: number;
  /** Opens this partition. */
  readonly ticket: string;
  /** Batches `[start, end)` of the partition; null = all. A partition that is too big for one task is divided so. */
  readonly batches: { readonly start: number; readonly end: number } | null;
  readonly rows: number;
  readonly bytes: number;
  /** The partition itself, as it came with its task's report: nobody need be asked for it. */
  readonly messages?: readonly string[];
};

/**
 * Where a task's rows go. `stream`: to the one reader of its DoGet, as they are made. `spool`: they stay on the worker, in partitions,
 * until the query ends (`EndQuery`); with more than one partition the last column of the text, an unsigned integer below `partitions`,
 * says which one a row belongs to, and is not itself part of the output.
 */
export type OutputSpec = { readonly kind: 'stream' } | { readonly kind: 'spool'; readonly partitions: number };

/** Partitions of one output, at most: each is a file handle and a buffer on every worker. */
export const PARTITIONS_MAX = 1_024;

/** Fixed once per statement by the coordinator, so that it means the same in every process. */
export type StatementContext = {
  /** now(), as microseconds since 1970 UTC, in decimal. */
  readonly nowMicros: string;
  readonly timeZone: string;
  readonly currentUser: string;
  readonly currentCatalog: string;
  readonly currentSchema: string;
};

/** A table as one statement reads it: names bound, snapshot fixed, files pruned. */
export type ScanSpec = {
  /** `catalog.namespace.table`, for messages and EXPLAIN only. */
  readonly tableName: string;
  readonly tableUuid: string;
  /** Decimal int64; null for a table without a snapshot. */
  readonly snapshotId: string | null;
  readonly schemaId: number;
  /** The columns that the statement's text may name, in table order. */
  readonly columns: readonly ScanColumn[];
  /** Field ids of those that the plan reads, for counting bytes; absent = all. */
  readonly readFieldIds?: readonly number[];
  readonly files: readonly ScanFile[];
  /** Iceberg name mapping (spec, column projection) for files without field ids. */
  readonly nameMapping: Json;
  /** For row groups; partitions and files are pruned already. */
  readonly predicate: Predicate;
  /** Roots that every file must lie under. */
  readonly allowedRoots: readonly string[];
};

/** `type` is the Iceberg type in its JSON form (`"long"`, `"decimal(15,2)"`, `{"type":"struct",...}`). */
export type ScanColumn = {
  readonly fieldId: number;
  readonly name: string;
  readonly type: Json;
  readonly required: boolean;
  /** `initial-default`, JSON single-value form; null when absent. */
  readonly initialDefault: Json;
};

export type ScanFile = {
  readonly path: string;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** Rows `[start, end)` of the file that are this task's; null = all. */
  readonly rows: { readonly start: number; readonly end: number } | null;
  /** Identity-partition values by source field id, JSON single-value form: for columns that the file does not hold. */
  readonly constants: JsonObject;
  readonly deletes: readonly ScanDelete[];
  /** v3 row lineage. */
  readonly firstRowId: string | null;
};

export type ScanDelete =
  | { readonly kind: 'position'; readonly path: string; readonly sizeBytes: number }
  | {
      readonly kind: 'equality';
      readonly path: string;
      readonly sizeBytes: number;
      readonly columns: readonly ScanColumn[];
    }
  | {
      readonly kind: 'vector';
      readonly path: string;
      readonly offset: number;
      readonly lengthBytes: number;
      readonly cardinality: number;
    };

/**
 * The `app_metadata` of the last message of a task's Flight stream, as JSON. After a failure the call's status says the same, but only in
 * short: it travels as headers.
 */
export type StreamEnd = TaskReport | { readonly failure: ErrorData };

/** How a task went that has ended well; the reply of RunTask has it as well. */
export type TaskReport = {
  readonly taskId: TaskId;
  readonly rows: number;
  readonly batches: number;
  readonly outputBytes: number;
  /** Time on a slot, fetching included. */
  readonly scheduledMs: number;
  readonly quanta: number;
  readonly spilledBytes: number;
  readonly peakMemoryBytes: number;
  readonly bytesScanned: number;
  readonly scans: readonly ScanReport[];
  /** What each partition of a spooled output holds; empty for a streamed one. */
  readonly partitions: readonly PartitionReport[];
  /** Bytes that came from other workers. */
  readonly receivedBytes: number;
  /** DuckDB's operator tree, when the task asked for it. */
  readonly profile: Json;
};

export type PartitionReport = {
  readonly rows: number;
  readonly batches: number;
  readonly bytes: number;
  /** Its FlightData messages in base64, schema first, when the whole output is so small that it goes with the report. */
  readonly messages?: readonly string[];
};

export type ScanReport = {
  readonly scan: number;
  readonly files: number;
  readonly rowGroups: number;
  readonly rowGroupsPruned: number;
  readonly bytes: number;
};

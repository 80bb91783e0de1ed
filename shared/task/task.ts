import type { ErrorData } from '#shared/error.ts';
import type { TaskId, QueryId, PrincipalId, TenantId } from '#shared/id.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { Json } from '#shared/json.ts';
import type { ScanColumn, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { ScanAccess } from '#shared/ticket.ts';
import type { BoundedFamily } from '#shared/sql/bounded-functions.ts';
import type { FileFormat, UnloadFormat } from '#shared/stage/file-format.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { FileLoad, LoadRules } from './load-rules.ts';
import type { JsonRead } from './json-document.ts';
import type { SqlText } from './sql-text.ts';

/**
 * Least memory of a task: with less DuckDB spills from the first rows on, and a sort of wide rows has too little even to spill. While a
 * worker has less free than this, its tasks wait for it.
 */
export const TASK_MEMORY_BYTES_MIN = 128 * 2 ** 20;

/**
 * A task that a coordinator sends to a worker: the SQL of one fragment with its share of the scans. It is sent as JSON (`task-codec.ts`)
 * in `RunTaskRequest.spec`, covered by a signed ticket (`shared/ticket.ts`).
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
  /** Outputs of earlier stages, which the text refers to as `{ input }`. */
  readonly inputs: readonly InputSpec[];
  readonly output: OutputSpec;
  readonly context: StatementContext;
  /**
   * The text is a fragment of a plan, so its joins run in the given order, which the planner chose with the statistics of the whole query.
   * A worker sees only the data that it reads itself.
   */
  readonly keepJoinOrder: boolean;
  /**
   * Rows are collected before the first is returned, so that no single piece of work has to last until rows appear. Otherwise they are
   * streamed: a slow reader then slows the task down, but costs no memory.
   */
  readonly collected: boolean;
  /** DuckDB's limit; less than `TASK_MEMORY_BYTES_MIN` only where the task's share of the session's or the worker's limit is. */
  readonly memoryLimitBytes: number;
  readonly spillLimitBytes: number;
  /** Cores: 1 = a narrow task; more = a wide one. */
  readonly threads: number;
  /** Scheduled milliseconds of the query so far, over the whole cluster: the MLFQ level it starts at. */
  readonly scheduledMs: number;
  /** Priority High and above: always level 0. */
  readonly pinnedToTop: boolean;
  /** Which query makes room when a worker has too little memory; null = the one that its process has grown most for. */
  readonly killRank: KillRank | null;
  /** `operators`: the report carries DuckDB's operator tree. `exact` (EXPLAIN ANALYZE): with all figures, and no rows that the worker kept. */
  readonly profile: 'none' | 'operators' | 'exact';
  /** Functions of the text that are bounded by macros while it runs. */
  readonly bounds: readonly BoundedFamily[];
};

/** The rank by which a query is killed: among two, the one of the greater class rank goes first, then the one that arrived later. */
export type KillRank = { readonly classRank: number; readonly arrivedAtMs: number };

/** A task without the parts that only its slot reads, which may be large; `access` has one entry per scan. */
export type TaskHead = Omit<TaskSpec, 'sql' | 'scans'> & { readonly access: readonly ScanAccess[] };

/** A task as a worker's main thread handles it; `body` holds the encoded rest for the slot. */
export type SentTask = TaskHead & { readonly body: Uint8Array };

/** Rows of an earlier stage that this task reads: partitions of finished tasks' output. */
export type InputSpec = {
  /** Columns under the names that the text uses; `type` in DuckDB's spelling. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly sources: readonly InputSource[];
  /** Number of references in the text: an input with more than one becomes a temporary table. */
  readonly reads: number;
};

/** One partition of one finished task's output, on the worker that holds it. */
export type InputSource = {
  /** Address of the worker's Flight service. */
  readonly address: string;
  readonly taskId: TaskId;
  readonly partition: number;
  /** Ticket that authorises reading this partition. */
  readonly ticket: string;
  /** Batches `[start, end)` of the partition; null = all. Divides a partition that is too big for one task. */
  readonly batches: { readonly start: number; readonly end: number } | null;
  readonly rows: number;
  readonly bytes: number;
  /** The task may still run: the reader waits for its end, however long. Rows and bytes are then expected, or unknown and 0. */
  readonly awaited?: true;
  /** The partition's messages, if they came inline with its task's report, so that no fetch is needed. */
  readonly messages?: readonly Uint8Array[];
};

/**
 * Destination of a task's rows. `stream`: sent to their single reader as they are produced. `spool`: kept on the worker, in
 * partitions, until the query ends (`EndQuery`); with more than one partition the last column of the text, an unsigned integer below
 * `partitions`, is the row's partition number, and is not itself part of the output. A `WriteSink`: files, which the task's report lists.
 */
export type OutputSpec =
  | { readonly kind: 'stream' }
  | { readonly kind: 'spool'; readonly partitions: number }
  | WriteSink;

/** `table`: data files of a table. `stage`: files of a stage. */
export type WriteSink =
  | { readonly kind: 'table'; readonly sink: TableSink }
  | { readonly kind: 'stage'; readonly sink: StageSink };

/** The table that a task writes data files for. The columns of the task's text are the table's, in name, type and order. */
export type TableSink = {
  /** Schema and partition spec of the files, as JSON texts of the Iceberg specification: they may hold 64-bit integers. */
  readonly schema: string;
  readonly spec: string;
  /** Location below which all files of the write lie, and no other file. Each attempt to run a task has a folder of its own there. */
  readonly folder: string;
  /** Roots that `folder` must lie under, and the right to write there. */
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
  /** The table's `write.parquet.compression-codec`. */
  readonly codec: string | null;
  /** The table's `write.parquet.compression-level`. */
  readonly codecLevel: string | null;
  readonly rowGroupRows: number;
  /** Size at which a file ends and the next one begins; a partition of a task is always one file. */
  readonly fileBytes: number;
  /** The rows of a file keep the order of the query, which costs a wide task its parallel writers. */
  readonly keepsOrder: boolean;
  /**
   * The text has three more columns behind the table's, of these names: the file and the position of the row of the table that the row
   * replaces, or NULL, and whether there is a row to be written. The task's report has the addresses.
   */
  readonly addresses?: { readonly file: string; readonly pos: string; readonly row: string };
  /** The rows are those of a stage's files, which the task's one scan reads: the report says how each of them went. */
  readonly load?: LoadRules;
};

/** The files of a stage that a task writes. They lie beside the stage's files, and get their names when those of all tasks are whole. */
export type StageSink = {
  readonly format: UnloadFormat;
  /** Folder of the upload. Each attempt to run a task has a folder of its own there. */
  readonly folder: string;
  /** The folder of the stage, and the right to write there. */
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
  /** Columns of CSV whose values are all enclosed, so that none is taken for NULL. */
  readonly enclosed: readonly string[];
  /** Rows of a row group of Parquet. */
  readonly rowGroupRows: number;
  /** Size at which a file ends and the next one begins; null = one file. */
  readonly fileBytes: number | null;
  /** The files, and the rows of each, keep the order of the query. */
  readonly keepsOrder: boolean;
};

/** A task's files for a stage, in their order; none when it has no row. */
export type UnloadedRows = { readonly rows: number; readonly files: readonly UnloadedFile[] };
export type UnloadedFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Size without compression. */
  readonly plainBytes: number;
};

/** A data file as a task reports it (`written-file.ts`): its manifest entry as JSON. */
export type WrittenFile = {
  readonly path: string;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** Partition values in the binary single-value form, base64. */
  readonly partition: readonly (string | null)[];
  readonly columnSizes: readonly FieldCount[];
  readonly valueCounts: readonly FieldCount[];
  readonly nullCounts: readonly FieldCount[];
  readonly nanCounts: readonly FieldCount[];
  readonly lower: readonly FieldBound[];
  readonly upper: readonly FieldBound[];
  readonly splitOffsets: readonly number[];
  /** The store may have an upload of its task that was begun and whose answer was lost. */
  readonly mayHaveLostUpload?: true;
};
type FieldCount = readonly [fieldId: number, count: number];
type FieldBound = readonly [fieldId: number, base64: string];

/** Most partitions of one output: each takes a file handle and a buffer on every worker. */
export const PARTITIONS_MAX = 1_024;

/** One statement's read of a table: names are bound, the snapshot is fixed, files are pruned. */
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
  /** Predicate for pruning row groups; partitions and files are pruned already. */
  readonly predicate: Predicate;
  /** Any so many rows will do; absent = all are read. */
  readonly rowsMax?: number;
  /** Roots that every file must lie under. */
  readonly allowedRoots: readonly string[];
  /** The right to read the files below these roots. */
  readonly credential: StorageCredential;
  /** The files are those of a stage; absent = an Iceberg table's. */
  readonly staged?: StagedSource;
};

/** How files of a stage are read. */
export type StagedSource = {
  readonly format: FileFormat;
  /**
   * `columns`: the names and types of the first file's columns are read, as text. `record starts`: the paths of the files, and the offset of
   * one record of CSV in each `stepBytes`, as text.
   */
  readonly what: 'rows' | 'columns' | 'record starts';
  readonly stepBytes?: number;
  /** All columns as the files are read, in their order; `type` in DuckDB's spelling. CSV finds them by place, the others by name. JSON has `json`. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly json?: JsonRead }[];
  /** Names are compared as they are written. Absent = without regard to case. */
  readonly matchesCase?: boolean;
  /** A load that finds columns by name, those of CSV in each file's first line: a file that has none of them is refused. */
  readonly byName?: boolean;
};

/**
 * The `app_metadata` of the last message of a task's Flight stream, as JSON. After a failure the call's status carries the same error, but
 * shortened, because it is sent in headers.
 */
export type StreamEnd = TaskReport | { readonly failure: ErrorData };

/** Report of a task that succeeded; it is also part of RunTask's reply. */
export type TaskReport = {
  readonly taskId: TaskId;
  readonly rows: number;
  readonly batches: number;
  readonly outputBytes: number;
  /** Time on a slot, fetching included. */
  readonly scheduledMs: number;
  readonly waits: TaskWaits;
  readonly quanta: number;
  readonly spilledBytes: number;
  readonly peakMemoryBytes: number;
  readonly bytesScanned: number;
  readonly scans: readonly ScanReport[];
  /** Contents of each partition of a spooled output; empty for a streamed one. */
  readonly partitions: readonly PartitionReport[];
  /** The files that a task with a `table` output has written; empty for every other. */
  readonly files: readonly WrittenFile[];
  /** The addresses of the rows that those of a table with `addresses` replace (`print-positions.ts`). */
  readonly replaced?: readonly string[];
  /** The files that a task with a `stage` output has written. */
  readonly unloaded?: UnloadedRows;
  /** How the files went that a task with `load` has read. */
  readonly loads?: readonly FileLoad[];
  /** Bytes that came from other workers. */
  readonly receivedBytes: number;
  /** DuckDB's operator tree, when the task asked for it. */
  readonly profile: Json;
};

/** Time that a task was on its worker without having a turn, in ms. What is left of its time went to other tasks' turns. */
type TaskWaits = TaskQueueing & {
  /** Its scans' footers and deletes were read. */
  readonly preparingMs: number;
  /** Its output was full: the reader, or the spool, had to catch up. */
  readonly blockedMs: number;
};

/** The part of the waits before the task had a slot, in ms. */
export type TaskQueueing = {
  /** The outputs that it reads came from other workers. */
  readonly inputsMs: number;
  /** Memory, and then a slot, was not free; also attempts on a slot that it had to leave. */
  readonly queuedMs: number;
};

export type PartitionReport = {
  readonly rows: number;
  readonly batches: number;
  readonly bytes: number;
  /** The partition's FlightData messages, schema first, if the whole output is small enough to travel with the report. */
  readonly messages?: readonly Uint8Array[];
};

export type ScanReport = {
  readonly scan: number;
  readonly files: number;
  readonly rowGroups: number;
  readonly rowGroupsPruned: number;
  readonly bytes: number;
};

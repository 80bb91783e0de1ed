import type { ErrorData } from '#shared/error.ts';
import type { InputSpec, TaskQueueing, TaskReport, SentTask } from '#shared/task/task.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import type { MessagePort } from 'node:worker_threads';
import type { NativeMessage } from '../batch/arrow-message.ts';
import type { IdleLimits } from '../duckdb/instance-pool.ts';
import type { ObjectFolderSettings } from '../objects/object-folder.ts';
import type { CopySettings } from '../disk-cache/copied-files.ts';
import type { StoredBatch } from '../spool/spooled-output.ts';

/** Messages between the main thread and a slot's thread. */

/** Start parameters of a slot's thread. */
export type SlotSettings = {
  /** Local folder below which each DuckDB instance has its own spill folder. */
  readonly spillDir: string;
  /** Limits of this slot's idle instances. */
  readonly idle: IdleLimits;
  readonly outputBufferBytes: number;
  /** Memory of this slot's row cache. */
  readonly rowCacheBytes: number;
  /** The copies of data files; null = there are none. */
  readonly copies: CopySettings | null;
  /** Copies of objects of buckets. */
  readonly objects: ObjectFolderSettings;
  /** Shared by all slots; `ACTIVITY` names its words. */
  readonly activity: Int32Array<SharedArrayBuffer>;
  /** Counts of all slots' memories: words of `MemoryUses`. */
  readonly memoryUses: {
    readonly rows: Uint32Array<SharedArrayBuffer>;
    readonly copies: Uint32Array<SharedArrayBuffer>;
    readonly footers: Uint32Array<SharedArrayBuffer>;
    readonly statements: Uint32Array<SharedArrayBuffer>;
    readonly objects: Uint32Array<SharedArrayBuffer>;
  };
  /** Shared by all slots: a `LevelSpec`. */
  readonly levelSpec: SharedArrayBuffer;
  /** The slot's own `QuantumStamp`. */
  readonly stamp: SharedArrayBuffer;
  /** The thread is the express slot's. */
  readonly isExpress: boolean;
  /** The slot's own `LevelStats`. */
  readonly levels: SharedArrayBuffer;
  /** Longest time that helper threads may spend on one piece of a task. */
  readonly quantumMaxMs: number;
};

/** Words of `SlotSettings.activity`. */
export const ACTIVITY = {
  /** Number of tasks of all slots that have work to do: a wide task lends its cores while there are others. */
  busy: 0,
  /** 1 while the spool is over its limit: a task with unread output pauses. */
  spoolFull: 1,
  /** 1 while the process is near its memory limit: idle instances are closed. */
  memoryShort: 2,
  words: 3,
} as const;

/** One task for a slot. */
export type SlotJob = SlotStart & {
  /** Its number in the slot's stamp. */
  readonly job: number;
  /** The thread's end of its channel; null when an earlier job has brought it. */
  readonly port: MessagePort | null;
  /** Shared memory of the attempt's `InterruptControl`. */
  readonly control: SharedArrayBuffer;
};

/** The data of a task that a slot needs, without the communication channels. */
export type SlotStart = {
  readonly spec: SentTask;
  /** Granted memory, at most what the spec asks for. */
  readonly memoryBytes: number;
  readonly inputs: readonly JobInput[];
  /** Bytes of `inputs` that came from other workers. */
  readonly receivedBytes: number;
  readonly waits: TaskQueueing;
};

/** The rows of one input. The main thread owns the batches' memory and files and keeps them until the task has left its slot. */
export type JobInput = {
  readonly columns: InputSpec['columns'];
  readonly reads: number;
  /** Schema and dictionaries of the streams, as FlightData messages; none when there is no stream at all. */
  readonly prologue: readonly Uint8Array[];
  readonly batches: readonly StoredBatch[];
};

/**
 * A message from a slot. `data` is one encoded FlightData message of a streamed output, its memory transferred; `prologue` and `batch`
 * belong to a partitioned output: ownership of a batch's memory block passes to the main thread.
 */
export type SlotOutput =
  | { readonly kind: 'data'; readonly data: Uint8Array<ArrayBuffer>; readonly rows: number }
  | { readonly kind: 'prologue'; readonly data: Uint8Array }
  | { readonly kind: 'batch'; readonly partition: number; readonly message: NativeMessage; readonly rows: number }
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** The messages of one job from its thread, in order; nothing follows on the one that is the last. */
export type FromJob = { readonly job: number; readonly outputs: readonly FromSlot[]; readonly isLast: boolean };

/** `wantsKey`: the task needs another key in place of this one, which ends or was refused. */
export type FromSlot = SlotOutput | { readonly kind: 'wantsKey'; readonly credentialId: string };

/** The facts that decide on the level of a query's tasks: its time on slots over the whole cluster, and whether it stays on the top level. */
export type QueryTime = Pick<SentTask, 'scheduledMs' | 'pinnedToTop'>;

/**
 * A message to a job: a reader took, or the spool stored, this much of the output; the task gets no turns until it is no longer held; its
 * query has had this time by now; it has this key in place of another; it must end with this error; or it runs elsewhere, as its
 * `InterruptControl` says.
 */
export type SlotInput =
  | { readonly kind: 'taken'; readonly bytes: number }
  | { readonly kind: 'hold'; readonly on: boolean }
  | { readonly kind: 'time'; readonly time: QueryTime }
  | ({ readonly kind: 'key' } & RenewedKey)
  | { readonly kind: 'cancel'; readonly error: ErrorData }
  | { readonly kind: 'withdrawn' };

/** A key in place of the one of an id. */
export type RenewedKey = { readonly replaces: string; readonly credential: StoreCredential };

export type ToJob = { readonly job: number; readonly input: SlotInput };

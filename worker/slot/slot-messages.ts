import type { ErrorData } from '#shared/error.ts';
import type { InputSpec, TaskReport, SentTask } from '#proto/task.ts';
import type { MessagePort } from 'node:worker_threads';
import type { NativeMessage } from '../flight/arrow-message.ts';
import type { IdleLimits } from './instance-pool.ts';
import type { StoredBatch } from '../spool/spooled-output.ts';

/** What the main thread and a slot's thread say to each other. */

/** What a slot's thread is started with. */
export type SlotSettings = {
  /** Local folder below which each DuckDB instance has its own for spilled data. */
  readonly spillDir: string;
  /** Of this slot. */
  readonly idle: IdleLimits;
  readonly outputBufferBytes: number;
  /** Shared by all slots: `ACTIVITY` says what its words are. */
  readonly activity: Int32Array<SharedArrayBuffer>;
  /** The slot's own `QuantumStamp`. */
  readonly stamp: SharedArrayBuffer;
  /** Time for which helper threads may be at one piece of a task. */
  readonly quantumMaxMs: number;
};

/** Words of `SlotSettings.activity`. */
export const ACTIVITY = {
  /** Tasks of all slots that have work to do: a wide task lends its cores while there are others. */
  busy: 0,
  /** 1 while the spool is over its limit: a task with output that nobody has read waits. */
  spoolFull: 1,
  /** 1 while the process is near its limit of memory: instances that are idle are closed. */
  memoryShort: 2,
  words: 3,
} as const;

/** One task for a slot. */
export type SlotJob = SlotStart & {
  /** Its number in the slot's stamp. */
  readonly job: number;
  readonly port: MessagePort;
  /** Of an `InterruptControl`. */
  readonly control: SharedArrayBuffer;
};

/** What a slot needs of a task besides the ways to and from it. */
export type SlotStart = {
  readonly spec: SentTask;
  /** At most what the spec asks for. */
  readonly memoryBytes: number;
  readonly inputs: readonly JobInput[];
  /** Bytes of `inputs` that came from other workers. */
  readonly receivedBytes: number;
};

/** The rows of one input. The batches' memory and files are the main thread's, and stay until the task has left its slot. */
export type JobInput = {
  readonly columns: InputSpec['columns'];
  readonly reads: number;
  /** Schema and dictionaries of the streams, as FlightData messages; none when there is no stream at all. */
  readonly prologue: readonly Uint8Array[];
  readonly batches: readonly StoredBatch[];
};

/**
 * From a slot. `data` is one encoded FlightData message of a streamed output, its memory transferred; `prologue` and `batch` are those
 * of an output in partitions: a batch's block becomes the main thread's.
 */
export type SlotOutput =
  | { readonly kind: 'data'; readonly data: Uint8Array; readonly rows: number }
  | { readonly kind: 'prologue'; readonly data: Uint8Array }
  | { readonly kind: 'batch'; readonly partition: number; readonly message: NativeMessage; readonly rows: number }
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** To a slot: a reader took, or the spool stored, so much of the output; or the task is to end with this error. */
export type SlotInput =
  | { readonly kind: 'taken'; readonly bytes: number }
  | { readonly kind: 'cancel'; readonly error: ErrorData };

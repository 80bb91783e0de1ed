import { setTimeout as sleep } from 'node:timers/promises';
import { connectivityState } from '@grpc/grpc-js';
import { LRUCache } from 'lru-cache';
import type { ReadPartitionReply } from '#proto/generated/skein/worker/v1/ReadPartitionReply.ts';
import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import type { InputSource, TaskReport } from '#shared/task/task.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { CallStream } from '#shared/grpc/call-stream.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { fromServiceError, internalMetadata, isAnswer } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { brokenMessage } from '#shared/flight/check-message.ts';
import { readMessage } from '../duckdb/ipc-message.ts';
import { plainMessage } from '../batch/compress-message.ts';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { miscounted, type SpooledOutput } from '../spool/spooled-output.ts';

/** Partitions that a worker fetches concurrently; each has a batch or two in flight. */
const FETCHES_MAX = 8;
/** Connections kept open, least recently used closed first: far more than are fetched from at once. */
const PEERS_MAX = 256;
/** Consecutive attempts without a new batch after which the peer counts as lost. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 100;
/** Time that a new connection may take. */
const CONNECT_MS = 3_000;
/** Time in which a worker that is reached answers. */
const REACH_MS = 2_000;
/** Window of HTTP/2 for each stream: less leaves the socket idle between two batches. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** Bytes up to which a partition comes as one message: as much as a connection takes anyway before its reader answers. */
export const SHORT_PARTITION_BYTES = 256 * 2 ** 10;

/** Limit of a partition's schema and dictionaries, which are held in the JavaScript heap. */
const PROLOGUE_BYTES_MAX = 64 * 2 ** 20;

/** Errors of a peer that are about the request, and do not mean that the partition is lost. */
const NOT_LOST: ReadonlySet<ErrorCode> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_REQUEST']);

export type PeerOptions = {
  readonly security: ChannelSecurity;
  /** Milliseconds without a message from a peer after which the connection counts as broken. */
  readonly silenceMs: number;
};

/** Reads partitions that other workers hold. */
export class PeerClients {
  readonly #options: PeerOptions;
  readonly #peers = new LRUCache<string, Peer>({ max: PEERS_MAX, dispose: (calls) => calls.close() });
  readonly #waiting: (() => void)[] = [];
  #fetches = 0;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /**
   * Copies a partition, or the range of it that the source names, into partition 0 of `into`. After a broken connection it resumes at the
   * next batch.
   * @throws WORKER_LOST when the peer does not answer or no longer has the partition; the peer's error for a bad ticket; INTERNAL_ERROR for
   * a broken message; SPILL_LIMIT; the reason of `signal`.
   */
  async fetch(signal: AbortSignal, source: InputSource, into: SpooledOutput): Promise<void> {
    let hasPlace = false;
    const enter = async (): Promise<void> => {
      if (hasPlace) return;
      await this.#place(signal);
      hasPlace = true;
    };
    try {
      // A call that waits for the end of a task takes no place: the task may itself need one to read its inputs.
      if (source.awaited !== true) await enter();
      await this.#fetch(signal, source, { into, enter });
    } finally {
      if (hasPlace) {
        this.#fetches--;
        this.#waiting.shift()?.();
      }
    }
  }

  async #place(signal: AbortSignal): Promise<void> {
    while (this.#fetches >= FETCHES_MAX && !signal.aborted) await this.#wait(signal);
    if (signal.aborted) {
      // This waiter may have been woken for a place just before its signal aborted: the place goes to the next one.
      this.#waiting.shift()?.();
      signal.throwIfAborted();
    }
    this.#fetches++;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      };
      this.#waiting.push(wake);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  async #fetch(signal: AbortSignal, source: InputSource, to: Destination): Promise<void> {
    const progress: Progress = { next: source.batches?.start ?? 0, prologue: false };
    const read = source.bytes <= SHORT_PARTITION_BYTES ? this.#readShort.bind(this) : this.#read.bind(this);
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const before = progress.next;
      if (!(await this.#isConnected(source.address, signal))) throw this.#unreached(source.address);
      const broken = await read(signal, source, progress, to);
      if (broken === undefined) return;
      if (progress.next > before) attempt = 1;
      if (attempt >= ATTEMPTS_MAX) throw new SkeinError('WORKER_LOST', 'a worker was lost', { cause: broken });
      await sleep(RETRY_MS * attempt, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Like `#read`, by one short call; a partition that turns out to be long is read with DoGet. */
  async #readShort(
    signal: AbortSignal,
    source: InputSource,
    progress: Progress,
    to: Destination,
  ): Promise<SkeinError | undefined> {
    // A call that waits for the end of a task is silent until then.
    const timeoutMs = source.awaited === true ? undefined : this.#options.silenceMs;
    const request = { ticket: ticketOf(source, progress) };
    let reply: ReadPartitionReply;
    try {
      reply = await this.#peer(source.address).call('ReadPartition', request, { signal, timeoutMs });
    } catch (thrown) {
      signal.throwIfAborted();
      const error = SkeinError.of(thrown);
      if (error.code === 'CONNECTION_LOST') return error;
      throw NOT_LOST.has(error.code) ? error : lostPartition(error);
    }
    if (reply.is_long) return await this.#read(signal, source, progress, to);
    await to.enter();
    for (const message of reply.messages) await store(message, progress, to.into);
    return undefined;
  }

  /** Makes one call; returns the error when the connection broke, undefined at the end of the partition. */
  async #read(
    signal: AbortSignal,
    source: InputSource,
    progress: Progress,
    { into, enter }: Destination,
  ): Promise<SkeinError | undefined> {
    const doGet = FLIGHT.definition.DoGet;
    const call = this.#peer(source.address).client.makeServerStreamRequest(
      doGet.path,
      doGet.requestSerialize,
      (bytes: Buffer) => bytes,
      { ticket: ticketOf(source, progress) },
      internalMetadata(this.#options.security.keyring),
    );
    let silent = false;
    const abort = (): void => call.cancel();
    signal.addEventListener('abort', abort, { once: true });
    const giveUp = (): void => {
      silent = true;
      call.cancel();
    };
    const startSilence = (): NodeJS.Timeout => setTimeout(giveUp, this.#options.silenceMs);
    // A call that waits for the end of a task is silent until then. The coordinator ends the reader when that task is lost.
    let silence = source.awaited === true ? undefined : startSilence();
    try {
      for await (const message of call as AsyncIterable<Buffer>) {
        await enter();
        await store(message, progress, into);
        if (source.batches === null) requireAll(message, into);
        silence = silence?.refresh() ?? startSilence();
      }
      return undefined;
    } catch (thrown) {
      signal.throwIfAborted();
      if (silent) throw this.#unreached(source.address);
      if (thrown instanceof SkeinError) throw thrown;
      const error = fromServiceError(thrown, 'WORKER_LOST');
      if (NOT_LOST.has(error.code)) throw error;
      // A Skein error is an answer: the peer is alive and has no such partition. Any other error is the connection's.
      if (isAnswer(thrown)) throw lostPartition(thrown);
      return error;
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', abort);
      call.on('error', () => undefined);
      call.cancel();
    }
  }

  /** Whether another worker answers, whatever it says. */
  async reaches(address: string): Promise<boolean> {
    const signal = AbortSignal.timeout(CONNECT_MS);
    try {
      if (!(await this.#isConnected(address, signal))) return false;
      await this.#peer(address).call('ReadPartition', { ticket: Buffer.alloc(0) }, { signal, timeoutMs: REACH_MS });
      return true;
    } catch (thrown) {
      const isReached = !signal.aborted && SkeinError.of(thrown).code !== 'CONNECTION_LOST';
      if (!isReached) this.#peers.delete(address);
      return isReached;
    }
  }

  /**
   * Waits for a connection that is being made. False when it does not come about: of a host that is gone or cut off nothing comes back, not
   * even a refusal, which is the call's error.
   */
  async #isConnected(address: string, signal: AbortSignal): Promise<boolean> {
    const channel = this.#peer(address).client.getChannel();
    const untilMs = Date.now() + CONNECT_MS;
    for (;;) {
      signal.throwIfAborted();
      const state = channel.getConnectivityState(true);
      if (state !== connectivityState.IDLE && state !== connectivityState.CONNECTING) return true;
      const isLate = await new Promise<boolean>((resolve) => {
        channel.watchConnectivityState(state, untilMs, (error) => resolve(error !== undefined));
      });
      if (isLate) return false;
    }
  }

  /** Gives up the connection, so that the next read makes a new one. */
  #unreached(address: string): SkeinError {
    this.#peers.delete(address);
    return new SkeinError('WORKER_LOST', 'a worker does not answer');
  }

  #peer(address: string): Peer {
    const found = this.#peers.get(address);
    if (found !== undefined) return found;
    const { security } = this.#options;
    const client = security.dial(
      WORKER.Client,
      { address, role: 'worker' },
      {
        'grpc.max_receive_message_length': -1,
        'grpc-node.flow_control_window': WINDOW_BYTES,
        // A client that is given up takes its connection with it.
        'grpc.use_local_subchannel_pool': 1,
      },
    );
    const peer = new CallStream(client, WORKER.definition, { keyring: security.keyring, lost: 'CONNECTION_LOST' });
    this.#peers.set(address, peer);
    return peer;
  }

  close(): void {
    this.#peers.clear();
  }
}

type Peer = CallStream<WorkerClient>;

const WORKER = loadService('worker.proto', 'skein.worker.v1.Worker');
const FLIGHT = loadService('flight.proto', 'arrow.flight.protocol.FlightService');

/** The rest of a partition, as flight.proto names it. */
function ticketOf({ ticket, batches }: InputSource, { next }: Progress): Buffer {
  return Buffer.from(`${ticket}@${next}${batches === null ? '' : `-${batches.end}`}`);
}

const lostPartition = (cause: unknown): SkeinError =>
  new SkeinError('WORKER_LOST', 'a worker has lost a partition', { cause });

/** Where a fetch stores what it reads; it calls `enter` before the first message. */
type Destination = { readonly into: SpooledOutput; readonly enter: () => Promise<void> };

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Stores the messages of a partition that came inline with the task. */
export async function storeMessages(messages: readonly Uint8Array[], into: SpooledOutput): Promise<void> {
  const progress: Progress = { next: 0, prologue: false };
  for (const message of messages) await store(asBuffer(message), progress, into);
}

/** Requires that the rows of a whole partition are there when the report comes, behind the last of them. @throws INTERNAL_ERROR */
function requireAll(message: Buffer, into: SpooledOutput): void {
  const { metadata } = decodeFlightData(message);
  if (metadata.length === 0) return;
  const { partitions } = JSON.parse(Buffer.from(metadata).toString()) as TaskReport;
  const [given, arrived] = [partitions[0]?.rows ?? 0, into.reports()[0]?.rows ?? 0];
  if (given !== arrived) throw miscounted(given, arrived);
}

/** Progress of a fetch: the number of the next batch, and whether the schema has arrived. */
type Progress = { next: number; prologue: boolean };

async function store(message: Buffer, progress: Progress, into: SpooledOutput): Promise<void> {
  const { header } = decodeFlightData(message);
  if (header.length === 0) return;
  const metadata = readMessage(header);
  if (metadata.isRecordBatch()) {
    progress.next++;
    progress.prologue = true;
    await into.append(0, await plainMessage(message), metadata.header().length);
  } else if (!progress.prologue) {
    // A call that goes on where another broke sends schema and dictionaries again.
    if (metadata.isSchema()) into.clearPrologue();
    const prologueBytes = into.prologue.reduce((sum, { length }) => sum + length, message.length);
    if (prologueBytes > PROLOGUE_BYTES_MAX)
      throw brokenMessage(`dictionaries of more than ${PROLOGUE_BYTES_MAX} bytes`);
    into.addPrologue(new Uint8Array(message));
  }
}

import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import type { CoordinatorBeatInput } from '#proto/generated/skein/worker/v1/CoordinatorBeat.ts';
import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import type { WorkerBeat } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import { SkeinError } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { CallStream } from '#shared/grpc/call-stream.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import type { QueryId } from '#shared/id.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import type { MlfqSpec } from '#shared/mlfq-spec.ts';
import type { Logger } from '#shared/log/logger.ts';
import { printRelease, type Release } from '#shared/release.ts';
import type { EndingView } from './may-end.ts';
import { WorkerEnding, type HungRun } from './worker-ending.ts';
import { workerInfo, type WorkerInfo } from './worker-info.ts';

/** The options that the links to all workers share. */
export type LinkOptions = {
  readonly security: ChannelSecurity;
  readonly coordinatorId: string;
  readonly epoch: number;
  readonly heartbeatIntervalMs: number;
  readonly heartbeatTimeoutMs: number;
  /** Whether this coordinator has given up the lead, and its queries go on to their ends. */
  readonly handsOver?: () => boolean;
  /** How slots share their time now. */
  readonly mlfq: () => MlfqSpec;
  /** The queries among those that a worker holds that run here, with the facts that decide on their level. */
  readonly levels?: (queryIds: readonly QueryId[]) => readonly QueryLevel[];
  /**
   * The coordinator's release. A worker of another release is refused, because task messages depend on Skein's release, and plans and
   * `hash()` on DuckDB's.
   */
  readonly release: Release;
  readonly log: Logger;
  /** Called with every beat, which names the queries that the worker holds. */
  readonly onBeat?: (link: WorkerLink, info: WorkerInfo) => void;
  /** Called once when a worker ends itself, or asks for it, because of a run. */
  readonly onHung?: (hung: HungRun) => void;
};

/** Scheduled time of a query over the whole cluster, and whether its tasks stay on the top level. */
type QueryLevel = { readonly queryId: QueryId; readonly scheduledMs: number; readonly isPinned: boolean };

/**
 * ```
 * connecting --beat--> live --silence, broken stream, or a beat that says so--> lost --retry--> connecting
 *      \--beat of another release, or no proof of being a worker--> refused --retry: a beat of our release--> live
 * ```
 */
export type LinkState =
  | { readonly kind: 'connecting' }
  /** `lost` is aborted with WORKER_LOST when this life of the worker ends. */
  | { readonly kind: 'live'; readonly info: WorkerInfo; readonly lost: AbortController }
  /** `reason` names the worker and both releases. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'lost' };

const RETRY_MS = 500;
/** A worker that ended itself is asked again sooner: it is back within a second or two. */
const ENDED_RETRY_MS = 200;
/** Time after its end in which a worker is expected back: an overloaded machine takes long to start a process. */
const EXPECTED_MS = 30_000;
/** Batches are 1 to 4 MB; a single text may be longer. */
const MESSAGE_BYTES_MAX = 512 * 2 ** 20;
/** A beat names every query that the worker holds something of. */
const BEAT_BYTES_MAX = 16 * 2 ** 20;
/** Time in which a worker that lives takes a new connection for tasks. */
const RECONNECT_MS = 2_000;

/** A channel shares its connection with no other, not even to the same address. */
const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 } as const;
const { Client: WorkerConstructor, definition: WORKER_CALLS } = loadService('worker.proto', 'skein.worker.v1.Worker');

/**
 * The two connections to one worker. One carries the heartbeats and nothing else: it alone says whether the worker lives. Tasks of all
 * queries use the other, and when it breaks, the worker need not be lost.
 */
export class WorkerLink {
  readonly address: string;
  readonly #options: LinkOptions;
  readonly #beats: WorkerClient;
  #tasks: CallStream<WorkerClient>;
  readonly #onChange: () => void;
  #state: LinkState = { kind: 'connecting' };
  #stream: ClientDuplexStream<CoordinatorBeatInput, WorkerBeat> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  /** Settles with the next beat. */
  #beat: PromiseWithResolvers<void> = Promise.withResolvers();
  #refusedFor = '';
  /** Whether the worker has attached, or its silence has been logged. */
  #known = false;
  #expectedUntilMs = 0;
  /** Time at which the worker was last there; at first, when it was first looked for. */
  #thereMs = performance.now();
  /** The worker was permitted to end, and has not yet. */
  #mayEnd = false;
  /** The run that the worker was last asked about to end. */
  #blamed: QueryId | null = null;
  #sinceMs = Date.now();
  #info: WorkerInfo | null = null;
  /** Threads that this coordinator's tasks have on the worker now. */
  load = 0;

  /** @throws INVALID_CONFIGURATION when the address may not be dialled */
  constructor(address: string, options: LinkOptions, onChange: () => void) {
    this.address = address;
    this.#options = options;
    this.#onChange = onChange;
    const onUnproven = (why: string): void => {
      const reason = `it cannot prove that it is a worker: ${why}`;
      // One cause for all reasons: a stranger that gives another reason each time is logged once.
      this.#refuse('unproven', { worker: address, reason });
    };
    this.#beats = options.security.dial(
      WorkerConstructor,
      { address, role: 'worker', onUnproven },
      { ...OWN_CONNECTION, 'grpc.max_receive_message_length': BEAT_BYTES_MAX },
    );
    this.#tasks = openTasks(address, options.security);
    this.#attach();
  }

  /** All calls but heartbeats; its client is Flight's, too. A worker that comes back gets a new one. */
  get calls(): CallStream<WorkerClient> {
    return this.#tasks;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Time at which the link came into its state, in ms since 1970. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** The worker's last heartbeat, also of one that was refused or lost; null before the first. */
  get info(): WorkerInfo | null {
    return this.#info;
  }

  /** Whether the worker ended itself a moment ago and is expected to restart. */
  get isExpected(): boolean {
    return this.#state.kind !== 'live' && performance.now() < this.#expectedUntilMs;
  }

  /** How the worker counts when one of the cluster asks to end its process. */
  get ending(): EndingView {
    const { state } = this;
    const isLive = state.kind === 'live';
    const wasThere = state.kind !== 'refused' && performance.now() - this.#thereMs < EXPECTED_MS;
    return {
      serves: isLive && !state.info.draining && state.info.openSlots > 0,
      isThere: isLive && !state.info.draining,
      isReplaced: isLive ? this.#mayEnd : wasThere,
      asks: isLive && state.info.asksToEnd !== null,
    };
  }

  /** Lets the worker, which has asked for it, end its process. */
  permitEnd(): void {
    this.#mayEnd = true;
    this.#options.log.warn({ worker: this.address }, 'a worker may end itself');
    this.#sendBeat();
  }

  /** Tells the worker at once what the next heartbeat would tell. */
  beatNow(): void {
    this.#sendBeat();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#end({ kind: 'lost' });
    this.#tasks.close();
    this.#beats.close();
  }

  /**
   * Whether a worker whose connection broke under a call lives on: it beats once more, and is given some time to take a new connection.
   * False as soon as one of the signals is aborted, of which one says that this life of the worker has ended.
   */
  async outlives(signals: readonly AbortSignal[]): Promise<boolean> {
    const { client } = this.#tasks;
    await untilAborted(signals, this.#beat.promise);
    const reconnected = new Promise<void>((resolve) => {
      client.waitForReady(Date.now() + RECONNECT_MS, () => resolve());
    });
    await untilAborted(signals, reconnected);
    return signals.every((signal) => !signal.aborted);
  }

  #attach(): void {
    if (this.#closed) return;
    const { heartbeatIntervalMs } = this.#options;
    // A refused worker stays refused until a beat shows that it was replaced.
    if (this.#state.kind !== 'refused') this.#become({ kind: 'connecting' });
    const stream = this.#beats.Attach(internalMetadata(this.#options.security.keyring));
    this.#stream = stream;
    this.#timer = setInterval(() => this.#sendBeat(), heartbeatIntervalMs);
    this.#expectBeat();
    stream.on('data', (wire: WorkerBeat) => this.#onBeat(workerInfo(wire)));
    stream.on('error', (error: ServiceError) => {
      if (this.#stream !== stream) return;
      this.#options.log.debug({ worker: this.address, err: error }, 'the stream to a worker broke');
      this.#tellUnknown(error.message);
      this.#end({ kind: 'lost' });
    });
    stream.on('end', () => {
      if (this.#stream === stream) this.#end({ kind: 'lost' });
    });
    this.#sendBeat();
  }

  #sendBeat(): void {
    const { coordinatorId, epoch, mlfq, levels: levelsOf } = this.#options;
    const { levelsMs, levelWeightRatio: ratio } = mlfq();
    const levels = { levels_ms: [...levelsMs], level_weight_ratio: ratio };
    const queries = (levelsOf?.(this.#info?.queryIds ?? []) ?? []).map(({ queryId: id, scheduledMs, isPinned }) => ({
      query_id: id,
      scheduled_ms: scheduledMs,
      pinned_to_top: isPinned,
    }));
    const said = { coordinator_id: coordinatorId, epoch: String(epoch), ...levels, queries, may_end: this.#mayEnd };
    this.#stream?.write({ ...said, hands_over: this.#options.handsOver?.() ?? false });
  }

  /** Sets the deadline of the next beat; a worker that hangs shows nothing else. */
  #expectBeat(): void {
    clearTimeout(this.#silence);
    const silence = setTimeout(() => {
      // If this process itself hung, the beats wait in its socket and are read before this runs.
      setImmediate(() => {
        if (this.#silence !== silence) return;
        this.#tellUnknown('it is silent');
        this.#end({ kind: 'lost' });
      });
    }, this.#options.heartbeatTimeoutMs);
    this.#silence = silence;
  }

  #onBeat(info: WorkerInfo): void {
    this.#expectBeat();
    this.#known = true;
    this.#info = info;
    this.#beat.resolve();
    this.#beat = Promise.withResolvers();
    this.#thereMs = performance.now();
    const { release, log } = this.#options;
    if (info.hung !== null) {
      this.#onHung(info.hung);
      return;
    }
    if (info.asksToEnd === null) this.#mayEnd = false;
    else this.#blame(info.asksToEnd);
    if (info.release.skein !== release.skein || info.release.duckdb !== release.duckdb) {
      const reason = `${info.name} is ${printRelease(info.release)}, this coordinator ${printRelease(release)}`;
      this.#refuse(reason, { worker: this.address, name: info.name, reason });
      return;
    }
    if (this.#state.kind === 'live' && this.#state.info.id === info.id) {
      const { lost, info: before } = this.#state;
      this.#state = { kind: 'live', info, lost };
      if (before.draining !== info.draining) this.#onChange();
      this.#options.onBeat?.(this, info);
      return;
    }
    this.#refusedFor = '';
    log.info({ worker: this.address, name: info.name, cores: info.cores }, 'worker attached');
    // The old connection may lead to a worker that is gone, and wait before it tries again.
    this.#tasks.close();
    this.#tasks = openTasks(this.address, this.#options.security);
    this.#tasks.client.getChannel().getConnectivityState(true);
    this.#become({ kind: 'live', info, lost: new AbortController() });
    this.#options.onBeat?.(this, info);
  }

  /** Refuses the worker and tries it again later, because it may be replaced. Each `cause` is logged once. */
  #refuse(cause: string, said: { readonly reason: string; readonly [key: string]: string }): void {
    if (this.#refusedFor !== cause) this.#options.log.error(said, 'worker refused');
    this.#refusedFor = cause;
    this.#known = true;
    this.#end({ kind: 'refused', reason: said.reason });
  }

  /** Logs, once, that a member that has never attached is ignored until it does. */
  #tellUnknown(reason: string): void {
    if (!this.#known) this.#options.log.warn({ worker: this.address, reason }, 'a worker is ignored until it answers');
    this.#known = true;
  }

  #onHung(hung: HungRun): void {
    // The process may take a moment to end and report again; only the first report counts.
    if (this.#state.kind === 'live') {
      this.#options.log.error({ worker: this.address, ...hung }, 'a worker ends itself');
      this.#blame(hung);
    }
    this.#expectedUntilMs = performance.now() + EXPECTED_MS;
    this.#end({ kind: 'lost' }, new WorkerEnding(hung));
  }

  #blame(hung: HungRun): void {
    if (this.#blamed === hung.queryId) return;
    this.#blamed = hung.queryId;
    this.#options.onHung?.(hung);
  }

  #end(state: LinkState, reason?: SkeinError): void {
    clearInterval(this.#timer);
    clearTimeout(this.#silence);
    this.#silence = undefined;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.on('error', () => undefined);
    stream?.cancel();
    this.#become(state, reason);
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#attach(), this.isExpected ? ENDED_RETRY_MS : RETRY_MS);
  }

  #become(state: LinkState, reason?: SkeinError): void {
    const before = this.#state;
    this.#state = state;
    this.#mayEnd = false;
    if (before.kind === 'live') {
      this.#options.log.warn({ worker: this.address }, 'worker lost');
      before.lost.abort(reason ?? new SkeinError('WORKER_LOST', 'a worker was lost while it ran the query'));
    }
    if (before.kind === state.kind) return;
    this.#sinceMs = Date.now();
    this.#onChange();
  }
}

function openTasks(address: string, security: ChannelSecurity): CallStream<WorkerClient> {
  const options = {
    ...OWN_CONNECTION,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  };
  const client = security.dial(WorkerConstructor, { address, role: 'worker' }, options);
  return new CallStream(client, WORKER_CALLS, { keyring: security.keyring, lost: 'CONNECTION_LOST' });
}

/** Resolves with `work`, or when one of the signals is aborted. */
async function untilAborted(signals: readonly AbortSignal[], work: Promise<void>): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = (): void => aborted.resolve();
  for (const signal of signals) {
    if (signal.aborted) return;
    signal.addEventListener('abort', stop);
  }
  await Promise.race([work, aborted.promise]);
  for (const signal of signals) signal.removeEventListener('abort', stop);
}

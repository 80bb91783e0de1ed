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
import type { Release } from '#shared/release.ts';
import {
  EXPECTED_MS,
  firstLink,
  isSameLife,
  nextLink,
  type LinkEvent,
  type LinkMoment,
  type LinkState,
} from './link-state.ts';
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

const RETRY_MS = 500;
/** A worker that ended itself is asked again sooner: it is back within a second or two. */
const ENDED_RETRY_MS = 200;
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
  #state: LinkState = firstLink(now());
  #stream: ClientDuplexStream<CoordinatorBeatInput, WorkerBeat> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  /** Settles with the next beat. */
  #beat: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Threads that this coordinator's tasks have on the worker now. */
  load = 0;

  /** @throws INVALID_CONFIGURATION when the address may not be dialled */
  constructor(address: string, options: LinkOptions, onChange: () => void) {
    this.address = address;
    this.#options = options;
    this.#onChange = onChange;
    const onUnproven = (why: string): void => {
      this.#apply({ kind: 'unproven', reason: `it cannot prove that it is a worker: ${why}` });
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
    return this.#state.sinceMs;
  }

  /** The worker's last heartbeat, also of one that was refused or lost; null before the first. */
  get info(): WorkerInfo | null {
    return this.#state.info;
  }

  /** Whether the worker ended itself a moment ago and is expected to restart. */
  get isExpected(): boolean {
    return this.#state.kind !== 'live' && performance.now() < this.#state.expectedUntilMs;
  }

  /** How the worker counts when one of the cluster asks to end its process. */
  get ending(): EndingView {
    const { state } = this;
    const isLive = state.kind === 'live';
    const wasThere = state.kind !== 'refused' && performance.now() - state.thereMs < EXPECTED_MS;
    return {
      serves: isLive && !state.info.draining && state.info.openSlots > 0,
      isThere: isLive && !state.info.draining,
      isReplaced: isLive ? state.mayEnd : wasThere,
      asks: isLive && state.info.asksToEnd !== null,
    };
  }

  /** Lets the worker, which has asked for it, end its process. */
  permitEnd(): void {
    this.#apply({ kind: 'permitted' });
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
    this.#apply({ kind: 'ended' });
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
    this.#apply({ kind: 'attach' });
    const stream = this.#beats.Attach(internalMetadata(this.#options.security.keyring));
    this.#stream = stream;
    this.#timer = setInterval(() => this.#sendBeat(), heartbeatIntervalMs);
    this.#expectBeat();
    stream.on('data', (wire: WorkerBeat) => this.#onBeat(workerInfo(wire)));
    stream.on('error', (error: ServiceError) => {
      if (this.#stream !== stream) return;
      this.#options.log.debug({ worker: this.address, err: error }, 'the stream to a worker broke');
      this.#apply({ kind: 'silent' }, error.message);
    });
    stream.on('end', () => {
      if (this.#stream === stream) this.#apply({ kind: 'ended' });
    });
    this.#sendBeat();
  }

  #sendBeat(): void {
    const { coordinatorId, epoch, mlfq, levels: levelsOf } = this.#options;
    const { levelsMs, levelWeightRatio: ratio } = mlfq();
    const levels = { levels_ms: [...levelsMs], level_weight_ratio: ratio };
    const queries = (levelsOf?.(this.info?.queryIds ?? []) ?? []).map(({ queryId: id, scheduledMs, isPinned }) => ({
      query_id: id,
      scheduled_ms: scheduledMs,
      pinned_to_top: isPinned,
    }));
    const mayEnd = this.#state.kind === 'live' && this.#state.mayEnd;
    const said = { coordinator_id: coordinatorId, epoch: String(epoch), ...levels, queries, may_end: mayEnd };
    this.#stream?.write({ ...said, hands_over: this.#options.handsOver?.() ?? false });
  }

  /** Sets the deadline of the next beat; a worker that hangs shows nothing else. */
  #expectBeat(): void {
    clearTimeout(this.#silence);
    const silence = setTimeout(() => {
      // If this process itself hung, the beats wait in its socket and are read before this runs.
      setImmediate(() => {
        if (this.#silence !== silence) return;
        this.#apply({ kind: 'silent' }, 'it is silent');
      });
    }, this.#options.heartbeatTimeoutMs);
    this.#silence = silence;
  }

  #onBeat(info: WorkerInfo): void {
    this.#expectBeat();
    this.#beat.resolve();
    this.#beat = Promise.withResolvers();
    this.#apply({ kind: 'beat', info, release: this.#options.release, lost: new AbortController() });
    if (this.#state.kind === 'live') this.#options.onBeat?.(this, info);
  }

  /** @param why of a silence */
  #apply(event: LinkEvent, why = ''): void {
    const before = this.#state;
    const after = nextLink(before, event, now());
    const begins = after.kind === 'live' && !isSameLife(before, after);
    const ends = after.kind !== 'live' && event.kind !== 'attach' && event.kind !== 'permitted';
    this.#tell(before, after, { begins, why });
    if (ends) this.#detach();
    if (begins) this.#openTasks();
    this.#state = after;
    if (before.kind === 'live' && !isSameLife(before, after)) {
      this.#options.log.warn({ worker: this.address }, 'worker lost');
      const hung = after.kind === 'lost' ? hungOf(event) : null;
      const lost = (): SkeinError => new SkeinError('WORKER_LOST', 'a worker was lost while it ran the query');
      before.lost.abort(hung === null ? lost() : new WorkerEnding(hung));
    }
    const drains = before.kind === 'live' && after.kind === 'live' && before.info.draining !== after.info.draining;
    if (before.kind !== after.kind || drains) this.#onChange();
    if (ends) this.#attachLater();
  }

  /** Logs a change of the state, and tells whoever wants to know of a run that a worker ends because of. */
  #tell(
    before: LinkState,
    after: LinkState,
    { begins, why }: { readonly begins: boolean; readonly why: string },
  ): void {
    const { log, onHung } = this.#options;
    const { address: worker } = this;
    const { info } = after;
    if (before.kind === 'live' && after.kind === 'lost' && info?.hung != null && info !== before.info)
      log.error({ worker, ...info.hung }, 'a worker ends itself');
    const blamed = info?.hung ?? info?.asksToEnd ?? null;
    if (after.blamed !== before.blamed && blamed !== null) onHung?.(blamed);
    // A member that has never attached is ignored until it does.
    if (why !== '' && !before.isKnown) log.warn({ worker, reason: why }, 'a worker is ignored until it answers');
    if (after.kind === 'refused' && after.refusedFor !== before.refusedFor) {
      const name = after.refusedFor === 'unproven' ? {} : { name: info?.name };
      log.error({ worker, ...name, reason: after.reason }, 'worker refused');
    }
    if (begins) log.info({ worker, name: info?.name, cores: info?.cores }, 'worker attached');
  }

  /** The old connection may lead to a worker that is gone, and wait before it tries again. */
  #openTasks(): void {
    this.#tasks.close();
    this.#tasks = openTasks(this.address, this.#options.security);
    this.#tasks.client.getChannel().getConnectivityState(true);
  }

  #detach(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#silence);
    this.#silence = undefined;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.on('error', () => undefined);
    stream?.cancel();
  }

  /** A worker that was refused is tried again, too: it may be replaced. */
  #attachLater(): void {
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#attach(), this.isExpected ? ENDED_RETRY_MS : RETRY_MS);
  }
}

const now = (): LinkMoment => ({ nowMs: Date.now(), monotonicMs: performance.now() });

/** The run because of which a worker says that it ends itself. */
const hungOf = (event: LinkEvent): HungRun | null => (event.kind === 'beat' ? event.info.hung : null);

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

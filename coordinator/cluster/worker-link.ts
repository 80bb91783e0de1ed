import { credentials, type Client, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import { queryId, type QueryId } from '#shared/id.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import type { Logger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { WorkerEnding, type HungRun } from './worker-ending.ts';

/** What the links to all workers have in common. */
export type LinkOptions = {
  readonly secret: string;
  readonly coordinatorId: string;
  readonly epoch: number;
  readonly heartbeatIntervalMs: number;
  readonly heartbeatTimeoutMs: number;
  /** `1.5.5`: plans and `hash()` belong to a release of DuckDB, so a worker with another one is refused. */
  readonly duckdbVersion: string;
  readonly log: Logger;
  /** Hears of the queries that a worker holds, with every beat. */
  readonly onBeat?: (link: WorkerLink, info: WorkerInfo) => void;
  /** Hears of a run for which a worker ends itself. */
  readonly onHung?: (hung: HungRun) => void;
};

/** What a worker says of itself, `WorkerBeat` of proto/worker.proto. */
export type WorkerInfo = {
  readonly id: string;
  readonly name: string;
  readonly duckdbVersion: string;
  readonly cores: number;
  readonly memoryLimitBytes: number;
  readonly runningTasks: number;
  readonly spoolBytes: number;
  readonly draining: boolean;
  /** The machine that it runs on, whose cores it may share with other workers. */
  readonly machine: { readonly id: string; readonly cores: number };
  /** Queries that have a task or spooled output there. */
  readonly queryIds: readonly QueryId[];
  /** The run for which its process ends now. */
  readonly hung: HungRun | null;
};

/**
 * ```
 * connecting --beat--> live --silence, broken stream, or a beat that says so--> lost --retry--> connecting
 *      \--beat of another DuckDB release--> refused --retry--> connecting
 * ```
 */
export type LinkState =
  | { readonly kind: 'connecting' }
  /** `lost` is aborted with WORKER_LOST when this life of the worker ends. */
  | { readonly kind: 'live'; readonly info: WorkerInfo; readonly lost: AbortController }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'lost' };

const RETRY_MS = 500;
/** A worker that ended itself is asked again sooner: it is back within a second or two. */
const ENDED_RETRY_MS = 200;
/** For so long after its end it is expected back. */
const EXPECTED_MS = 10_000;
/** Batches are 1 to 4 MB; a single text may be longer. */
const MESSAGE_BYTES_MAX = 512 * 2 ** 20;

/** The connection to one worker: the Attach stream with its heartbeats, and the channel that tasks use. */
export class WorkerLink {
  readonly address: string;
  /** The channel to the worker; Flight calls go over it too. */
  readonly client: Client;
  readonly #options: LinkOptions;
  readonly #onChange: () => void;
  #state: LinkState = { kind: 'connecting' };
  #stream: ClientDuplexStream<object, WireBeat> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #refusedFor = '';
  #expectedUntilMs = 0;
  /** Threads that this coordinator's tasks have on the worker now. */
  load = 0;

  constructor(address: string, options: LinkOptions, onChange: () => void) {
    this.address = address;
    this.#options = options;
    this.#onChange = onChange;
    const { Client: Constructor } = loadService('worker.proto', 'skein.worker.v1.Worker');
    this.client = new Constructor(address, credentials.createInsecure(), {
      'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
      'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    });
    this.#attach();
  }

  get state(): LinkState {
    return this.#state;
  }

  /** It ended itself a moment ago, and is started again. */
  get isExpected(): boolean {
    return this.#state.kind !== 'live' && performance.now() < this.#expectedUntilMs;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#end({ kind: 'lost' });
    this.client.close();
  }

  #attach(): void {
    if (this.#closed) return;
    const { coordinatorId, epoch, heartbeatIntervalMs } = this.#options;
    this.#become({ kind: 'connecting' });
    const attach = (this.client as unknown as Record<string, AttachMethod>)['Attach'];
    const stream = must(attach, 'worker.proto has Attach').call(this.client, internalMetadata(this.#options.secret));
    this.#stream = stream;
    const beat = (): void => void stream.write({ coordinator_id: coordinatorId, epoch: String(epoch) });
    this.#timer = setInterval(beat, heartbeatIntervalMs);
    this.#expectBeat();
    stream.on('data', (wire: WireBeat) => this.#onBeat(workerInfo(wire)));
    stream.on('error', (error: ServiceError) => {
      if (this.#stream !== stream) return;
      this.#options.log.debug({ worker: this.address, err: error }, 'the stream to a worker broke');
      this.#end({ kind: 'lost' });
    });
    stream.on('end', () => {
      if (this.#stream === stream) this.#end({ kind: 'lost' });
    });
    beat();
  }

  /** The next beat must come in time: a worker that hangs says nothing else. */
  #expectBeat(): void {
    clearTimeout(this.#silence);
    const silence = setTimeout(() => {
      // When it was this process that hung, the beats lie in the socket: they are read before this.
      setImmediate(() => {
        if (this.#silence === silence) this.#end({ kind: 'lost' });
      });
    }, this.#options.heartbeatTimeoutMs);
    this.#silence = silence;
  }

  #onBeat(info: WorkerInfo): void {
    this.#expectBeat();
    const { duckdbVersion, log } = this.#options;
    if (info.hung !== null) {
      this.#onHung(info.hung);
      return;
    }
    if (info.duckdbVersion !== duckdbVersion) {
      const reason = `it has DuckDB ${info.duckdbVersion}, the coordinator ${duckdbVersion}`;
      // It is asked again, because it may be replaced; it is said once.
      if (this.#refusedFor !== reason) log.error({ worker: this.address, reason }, 'worker refused');
      this.#refusedFor = reason;
      this.#end({ kind: 'refused', reason });
      return;
    }
    if (this.#state.kind === 'live' && this.#state.info.id === info.id) {
      const { lost, info: before } = this.#state;
      this.#state = { kind: 'live', info, lost };
      if (before.draining !== info.draining) this.#onChange();
      this.#options.onBeat?.(this, info);
      return;
    }
    log.info({ worker: this.address, name: info.name, cores: info.cores }, 'worker attached');
    this.#become({ kind: 'live', info, lost: new AbortController() });
    this.#options.onBeat?.(this, info);
  }

  #onHung(hung: HungRun): void {
    this.#options.log.error({ worker: this.address, ...hung }, 'a worker ends itself');
    this.#expectedUntilMs = performance.now() + EXPECTED_MS;
    this.#options.onHung?.(hung);
    this.#end({ kind: 'lost' }, new WorkerEnding(hung));
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
    if (before.kind === 'live') {
      this.#options.log.warn({ worker: this.address }, 'worker lost');
      before.lost.abort(reason ?? new SkeinError('WORKER_LOST', 'a worker was lost while it ran the query'));
    }
    if (before.kind !== state.kind) this.#onChange();
  }
}

type AttachMethod = (metadata: ReturnType<typeof internalMetadata>) => ClientDuplexStream<object, WireBeat>;

/** As proto-loader gives it: 64-bit integers as text. */
type WireBeat = {
  readonly worker_id: string;
  readonly name: string;
  readonly duckdb_version: string;
  readonly cores: number;
  readonly memory_limit_bytes: string;
  readonly running_tasks: number;
  readonly spool_bytes: string;
  readonly draining: boolean;
  readonly query_ids: readonly string[];
  readonly machine_id: string;
  readonly machine_cores: number;
  readonly hung: { readonly query_id: string; readonly quantum_ms: string } | null | undefined;
};

const workerInfo = (wire: WireBeat): WorkerInfo => ({
  id: wire.worker_id,
  name: wire.name,
  duckdbVersion: wire.duckdb_version.replace(/^v/, ''),
  cores: Math.max(1, wire.cores),
  memoryLimitBytes: Number(wire.memory_limit_bytes),
  runningTasks: wire.running_tasks,
  spoolBytes: Number(wire.spool_bytes),
  draining: wire.draining,
  machine: { id: wire.machine_id, cores: Math.max(1, wire.machine_cores) },
  queryIds: wire.query_ids.map(queryId),
  hung: wire.hung == null ? null : { queryId: queryId(wire.hung.query_id), quantumMs: Number(wire.hung.quantum_ms) },
});

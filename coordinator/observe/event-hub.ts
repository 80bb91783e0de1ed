import type { Clock } from '#shared/clock.ts';
import { errorBody, SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import type { Authenticate, Caller } from '../auth/authenticate.ts';
import { RECORDS_MAX } from '../history/history-request.ts';
import type { Recorded } from '../history/history-record.ts';
import { liveQueries } from '../query/live-queries.ts';
import type { LiveStatement, QueryRegistry } from '../query/query-registry.ts';
import type { ClusterView } from './cluster-view.ts';
import type { Admission } from '../workload/admission.ts';
import { visibleTo, type GroupSnapshot } from '../workload/group-snapshot.ts';
import type { WorkClass } from '../workload/work-class.ts';
import {
  clusterEntry,
  groupEntry,
  liveEntry,
  recordEntry,
  tasksEntry,
  workerEntry,
  type QueryEntry,
} from './entries.ts';
import { EventStream, type EventSink, type Sample, type Topic } from './event-stream.ts';
import { QueryLog } from './query-log.ts';

/** The request of a reader. */
export type EventRequest = {
  readonly topics: ReadonlySet<Topic>;
  /** Id of the last event that the reader has; null = it begins. */
  readonly after: string | null;
  /** Checks the reader's token again, which may expire or be revoked while the stream is open. */
  readonly reauthenticate: () => ReturnType<Authenticate>;
};

/** Events for readers. */
export interface Events {
  /** Opens a stream to `sink`; the returned function tells that the reader has left. @throws QUEUE_FULL, NOT_ACTIVE */
  open(caller: Caller, request: EventRequest, sink: EventSink): () => void;
}

type HubParts = {
  readonly epoch: number;
  readonly view: Pick<ClusterView, 'cluster'>;
  readonly admission: Pick<Admission, 'describe' | 'rules'>;
  readonly registry: QueryRegistry;
  readonly clock: Clock;
};

/** Interval at which groups, workers and tasks are looked at, and at which tokens are checked again. */
const LOOK_MS = 1_000;
/** Streams of one principal, of one tenant, and of all. */
const STREAMS_MAX = { principal: 8, tenant: 64, all: 512 } as const;
/** Time for which the changes of a tenant's statements are kept after its last stream has ended. */
const LOG_KEPT_MS = 300_000;
/** Tenants whose changes are kept. */
const LOGS_MAX = 128;
/** Groups, workers, and statements that one stream tells of at a time: those of the first page of the lists. */
const SAMPLES_MAX = RECORDS_MAX;

type TenantStreams = { readonly log: QueryLog; readonly streams: Set<OpenStream>; idleSinceMs: number };
type Snapshot = { readonly cluster: readonly Sample[]; readonly groups: readonly GroupSnapshot[] };
type OpenStream = { readonly stream: EventStream; readonly reauthenticate: EventRequest['reauthenticate'] };

/**
 * The streams of events of all readers. Each tenant has a log and a set of streams of its own, so that neither the events nor the numbers
 * of another tenant's statements reach a reader. Without readers, statements cost nothing here.
 */
export class EventHub implements Events, Disposable {
  readonly #parts: HubParts;
  readonly #tenants = new Map<TenantId, TenantStreams>();
  #timer: NodeJS.Timeout | undefined;
  #logs = 0;
  #isClosed = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** Number of open streams. */
  get size(): number {
    return [...this.#tenants.values()].reduce((sum, { streams }) => sum + streams.size, 0);
  }

  /** Takes the record of a statement that has begun, started or ended, and its class; null = it has none yet. */
  record(statement: Pick<Recorded, 'row'> & Pick<LiveStatement, 'key'>, workClass: WorkClass | null): void {
    this.#tell(statement.key.tenant, () => recordEntry(statement.row(), workClass));
  }

  /** Tells of a statement that waits in a resource group from now on, and why, or that has another class. */
  changed(statement: LiveStatement): void {
    this.#tell(statement.key.tenant, () => liveEntry(statement.live()));
  }

  open(caller: Caller, request: EventRequest, sink: EventSink): () => void {
    if (this.#isClosed) throw ended();
    const { tenant } = caller.claims;
    this.#requireRoom(caller);
    const { clock } = this.#parts;
    const of = this.#tenants.get(tenant) ?? this.#addTenant(tenant);
    const stream = new EventStream(caller, request.topics, { sink, nowMs: clock.monotonicMs() });
    const opened: OpenStream = { stream, reauthenticate: request.reauthenticate };
    of.streams.add(opened);
    this.#begin(stream, of.log, request.after);
    stream.sample(this.#samplesOf(tenant, this.#snapshot()), clock.monotonicMs());
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      stream.left();
      this.#remove(of, opened);
    };
  }

  /** Ends all streams: this coordinator is no longer the active one. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    const why = JSON.stringify(errorBody(ended()));
    for (const { streams } of this.#tenants.values()) for (const { stream } of streams) stream.end(why);
    this.#tenants.clear();
  }

  #tell(tenant: TenantId, entry: () => QueryEntry): void {
    const of = this.#tenants.get(tenant);
    if (of === undefined) return;
    const { query, number } = of.log.add(entry());
    const id = of.log.idOf(number);
    for (const { stream } of of.streams) stream.query(query, id);
  }

  #requireRoom({ claims }: Caller): void {
    const streams = this.#tenants.get(claims.tenant)?.streams ?? new Set<OpenStream>();
    const own = [...streams].filter(({ stream }) => stream.caller.claims.sub === claims.sub).length;
    const full =
      own >= STREAMS_MAX.principal
        ? `the principal has ${own}`
        : streams.size >= STREAMS_MAX.tenant
          ? `the tenant has ${streams.size}`
          : this.size >= STREAMS_MAX.all
            ? `there are ${this.size}`
            : null;
    if (full !== null) throw new SkeinError('QUEUE_FULL', `too many event streams are open: ${full}`);
  }

  #addTenant(tenant: TenantId): TenantStreams {
    const idle = [...this.#tenants].filter(([, { streams }]) => streams.size === 0);
    const [first] = idle.toSorted(([, a], [, b]) => a.idleSinceMs - b.idleSinceMs);
    if (this.#tenants.size >= LOGS_MAX && first !== undefined) this.#tenants.delete(first[0]);
    const made = { log: new QueryLog(this.#parts.epoch, ++this.#logs), streams: new Set<OpenStream>(), idleSinceMs: 0 };
    this.#tenants.set(tenant, made);
    return made;
  }

  /** Tells a reader what it has missed, or all statements that wait and run now. */
  #begin(stream: EventStream, log: QueryLog, after: string | null): void {
    const missed = after === null ? null : log.after(after);
    if (missed !== null) {
      for (const { query, number } of missed) stream.query(query, log.idOf(number));
      return;
    }
    stream.reset(log.idOf());
    if (!stream.has('queries')) return;
    const all = { state: null, owner: null, limit: SAMPLES_MAX };
    const { queries } = liveQueries(this.#parts.registry, stream.caller, all);
    for (const live of queries) stream.query(liveEntry(live), null);
  }

  #look(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const snapshot = this.#snapshot();
    for (const [tenant, of] of this.#tenants) {
      if (of.streams.size === 0) {
        if (nowMs - of.idleSinceMs > LOG_KEPT_MS) this.#tenants.delete(tenant);
        continue;
      }
      const samples = this.#samplesOf(tenant, snapshot);
      for (const opened of of.streams) {
        opened.stream.sample(samples, nowMs);
        if (opened.stream.isOpen) void this.#recheck(opened);
        else this.#remove(of, opened);
      }
    }
    if (this.#tenants.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #remove(of: TenantStreams, opened: OpenStream): void {
    if (of.streams.delete(opened)) of.idleSinceMs = this.#parts.clock.monotonicMs();
  }

  /** Ends a stream whose token no longer holds. */
  async #recheck({ stream, reauthenticate }: OpenStream): Promise<void> {
    try {
      stream.caller = await reauthenticate();
    } catch (error) {
      stream.end(JSON.stringify(errorBody(SkeinError.of(error))));
    }
  }

  /** Events that are the same for all tenants. */
  #snapshot(): Snapshot {
    const { view, admission } = this.#parts;
    const cluster = view.cluster();
    const shared = { topic: 'cluster', owner: null } as const;
    const workers = cluster.workers.slice(0, SAMPLES_MAX).map((worker, i): Sample => {
      const key = `worker ${worker.name ?? `without a name ${i}`}`;
      const goneData = worker.name === null ? null : JSON.stringify({ name: worker.name, gone: true });
      return { ...shared, type: 'worker', key, data: JSON.stringify(workerEntry(worker)), goneData };
    });
    const data = JSON.stringify(clusterEntry(cluster));
    return {
      cluster: [{ ...shared, type: 'cluster', key: 'cluster', data, goneData: null }, ...workers],
      groups: admission.describe(),
    };
  }

  #samplesOf(tenant: TenantId, { cluster, groups }: Snapshot): readonly Sample[] {
    const { admission, registry } = this.#parts;
    const visible = visibleTo(tenant, groups, admission.rules).slice(0, SAMPLES_MAX);
    const running = registry.list({ tenant, principal: null, state: 'running', limit: SAMPLES_MAX }).queries;
    return [
      ...cluster,
      ...visible.map((group): Sample => {
        const goneData = JSON.stringify({ path: group.path, gone: true });
        const data = JSON.stringify(groupEntry(group));
        return { topic: 'groups', type: 'group', key: `group ${group.path}`, owner: null, data, goneData };
      }),
      ...running.map((live): Sample => {
        const key = `tasks ${live.principal} ${live.queryId}`;
        const data = JSON.stringify(tasksEntry(live));
        return { topic: 'tasks', type: 'tasks', key, owner: live.principal, data, goneData: null };
      }),
    ];
  }
}

const ended = (): SkeinError => new SkeinError('NOT_ACTIVE', 'this coordinator is no longer the active one');

import { SkeinError } from '#shared/error.ts';
import type { MlfqSpec } from '#shared/mlfq-spec.ts';
import type { Clock } from '#shared/clock.ts';
import { reclassify, type Classification, type WorkDone } from './classify.ts';
import { printReason, type GroupSnapshot } from './group-snapshot.ts';
import { GroupTree } from './group-tree.ts';
import type { MemoryOptions } from './memory-ledger.ts';
import { route, type RoutedStatement } from './route.ts';
import { PRIORITIES, WORK_CLASSES, type ClassCounts, type WorkClass } from './work-class.ts';
import type { ClassLimits, RoutingRule, Workload } from './workload.ts';

/** A query that asks for a place. */
export type AdmissionRequest = {
  readonly statement: RoutedStatement;
  readonly classification: Classification;
  /** Most memory that the session allows the query. */
  readonly memoryLimitBytes: number;
  readonly signal: AbortSignal;
  /** Called with the query's group and priority, and with what tells its place in the queue while it waits. */
  readonly onRouted: (routed: Routed) => void;
  /** Called when the running query gets another class, because it has outgrown its estimate. */
  readonly onReclassified: (to: Reclassified) => void;
};

export type Routed = {
  /** Slash-separated, as history names it. */
  readonly resourceGroup: string;
  readonly priority: number;
  readonly waiting: () => QueuePlace | null;
};

type Reclassified = {
  readonly classification: Classification;
  readonly priority: number;
  readonly limits: ClassLimits;
};

/** Where the rules send a statement: its group, slash-separated, and the priority of its rule; null = that of its class. */
export type Destination = { readonly resourceGroup: string; readonly priority: number | null };

/** Why a query waits, the group that it waits in now, slash-separated, and its place in the queue there, from 1. */
export type QueuePlace = { readonly position: number; readonly reason: string; readonly resourceGroup: string };

/** A place among the running queries. `release` gives it back, once. */
export interface Place {
  /** The query waited for its place, so its snapshots may have expired meanwhile. */
  readonly hasWaited: boolean;
  /** The group that it started in, slash-separated. */
  readonly resourceGroup: string;
  readonly workClass: WorkClass;
  /** Priority of the query now. */
  readonly priority: number;
  /** The limits of the query's class: those of the file in force when it started, or when it got its present class. */
  readonly limits: ClassLimits;
  /** The longest timeout of any class when the query started; it gets no longer one. */
  readonly timeoutMsMax: number;
  /** Asks for memory up to `wantedBytes`; returns what the query may use. */
  grow(wantedBytes: number): number;
  /** Counts work of the query: scheduled time against its group, and both against the estimate of its class. */
  worked(more: WorkDone): void;
  release(): void;
}

export interface Admission {
  /** Where the rules send a statement now. It takes no place there: that is `admit`. */
  route(statement: RoutedStatement): Destination;
  /** @throws QUEUE_FULL when a queue on the query's path is full; the signal's reason when it aborts first. */
  admit(request: AdmissionRequest): Promise<Place>;
  readonly running: number;
  readonly queued: number;
  /** The groups as they are now. */
  describe(): readonly GroupSnapshot[];
  readonly rules: readonly RoutingRule[];
  readonly mlfq: MlfqSpec;
}

export type AdmissionOptions = {
  readonly workload: Workload;
  readonly memory: MemoryOptions;
  /** Memory of all workers now, in bytes. */
  readonly memoryBytes: () => number;
  readonly clock: Clock;
};

/** Interval at which CPU counters fall and the workers' memory is read. */
const TICK_MS = 500;

type Classes = Workload['classes'];
type Waiter = { readonly start: () => void };
/** How a query came to run: `given` is the priority of its rule, `classes` are those of the file in force when it started. */
type Start = { readonly hasWaited: boolean; readonly given: number | null; readonly classes: Classes };

/** Connects the tree of resource groups with the queries that wait for it. */
export class GroupAdmission implements Admission, Disposable {
  readonly #options: AdmissionOptions;
  readonly #tree: GroupTree;
  readonly #waiting = new Map<string, Waiter>();
  readonly #timer: NodeJS.Timeout;
  #workload: Workload;
  #queries = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#workload = options.workload;
    this.#tree = new GroupTree(options.workload, options.memory);
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  get running(): number {
    return this.#tree.running;
  }

  get queued(): number {
    return this.#tree.queued;
  }

  get rules(): readonly RoutingRule[] {
    return this.#workload.rules;
  }

  get mlfq(): MlfqSpec {
    return this.#workload.mlfq;
  }

  describe(): readonly GroupSnapshot[] {
    return this.#tree.describe();
  }

  countClasses(): ClassCounts {
    return this.#tree.countClasses();
  }

  get memory(): { readonly heldBytes: number; readonly totalBytes: number } {
    return this.#tree.memory;
  }

  /** Puts another workload file in force. */
  reconfigure(workload: Workload): void {
    this.#workload = workload;
    this.#start(this.#tree.reconfigure(workload));
  }

  route(statement: RoutedStatement): Destination {
    const { path, priority } = route(this.#workload.rules, statement);
    return { resourceGroup: slashed(this.#tree.pathOf(path)), priority };
  }

  async admit(request: AdmissionRequest): Promise<Place> {
    const { statement, classification, memoryLimitBytes, signal } = request;
    if (signal.aborted) throw SkeinError.of(signal.reason);
    // The workers may have come since the last tick.
    this.#start(this.#tree.setMemory(this.#options.memoryBytes()));
    const { rules } = this.#workload;
    const { path, priority: given } = route(rules, statement);
    const { workClass } = classification;
    const priority = given ?? PRIORITIES[workClass];
    const id = String(++this.#queries);
    const { promise, resolve, reject } = Promise.withResolvers<Classes>();
    // It runs with the limits of the file that is in force when it starts: those that the tree has given it memory by.
    this.#waiting.set(id, { start: () => resolve(this.#workload.classes) });
    const submitted = this.#tree.submit({
      id,
      tenant: statement.tenant,
      path,
      workClass,
      priority,
      memoryLimitBytes,
    });
    if (submitted.kind === 'refused') {
      this.#waiting.delete(id);
      this.#start(submitted.started);
      const { group, queued, queuedMax } = submitted;
      request.onRouted({ resourceGroup: slashed(submitted.path), priority, waiting: () => null });
      const message = `the queue of ${group} is full: ${queued} queries wait, and ${queuedMax} may`;
      throw new SkeinError('QUEUE_FULL', message);
    }
    request.onRouted({ resourceGroup: this.#groupOf(id), priority, waiting: () => this.#placeOf(id) });
    this.#start(submitted.started);
    const hasWaited = this.#waiting.has(id);
    const leave = (): void => {
      this.#waiting.delete(id);
      this.#start(this.#tree.leave(id));
      reject(SkeinError.of(signal.reason));
    };
    signal.addEventListener('abort', leave, { once: true });
    let classes: Classes;
    try {
      classes = await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
    return this.#place(id, request, { hasWaited, given, classes });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #place(
    id: string,
    { classification, onReclassified }: AdmissionRequest,
    { hasWaited, given, classes }: Start,
  ): Place {
    const tree = this.#tree;
    const done = { rows: 0, scheduledMs: 0 };
    const timeoutMsMax = Math.max(...WORK_CLASSES.map((one) => classes[one].timeoutMs));
    let now = classification;
    let limits = classes[now.workClass];
    const priority = (): number => given ?? PRIORITIES[now.workClass];
    const change = (to: Classification): void => {
      now = to;
      const { timeoutMs, memoryBytes } = this.#workload.classes[to.workClass];
      // The tickets of its tasks expire with `timeoutMsMax`, which has been told when it started.
      limits = { timeoutMs: Math.min(timeoutMs, timeoutMsMax), memoryBytes };
      this.#start(tree.reclassify(id, { workClass: to.workClass, priority: priority() }));
      onReclassified({ classification: to, priority: priority(), limits });
    };
    return {
      hasWaited,
      resourceGroup: this.#groupOf(id),
      get workClass() {
        return now.workClass;
      },
      get priority() {
        return priority();
      },
      get limits() {
        return limits;
      },
      timeoutMsMax,
      grow: (wantedBytes) => tree.grow(id, wantedBytes),
      worked: ({ rows, scheduledMs }) => {
        done.rows += rows;
        done.scheduledMs += scheduledMs;
        tree.charge(id, scheduledMs);
        const to = reclassify(now, done);
        if (to !== null) change(to);
      },
      release: () => this.#start(tree.leave(id)),
    };
  }

  #placeOf(id: string): QueuePlace | null {
    const position = this.#tree.queuePosition(id);
    const reason = this.#tree.waitReason(id);
    if (position === null || reason === null) return null;
    return { position, reason: printReason(reason), resourceGroup: this.#groupOf(id) };
  }

  #groupOf(id: string): string {
    return slashed(this.#tree.groupPath(id));
  }

  #start(ids: readonly string[]): void {
    for (const id of ids) {
      this.#waiting.get(id)?.start();
      this.#waiting.delete(id);
    }
  }

  #tick(): void {
    const { memoryBytes, clock } = this.#options;
    this.#start(this.#tree.setMemory(memoryBytes()));
    this.#start(this.#tree.tick(clock.monotonicMs()));
  }
}

/** The path of a group as history names it. */
const slashed = (path: string): string => `/${path.replaceAll('.', '/')}`;

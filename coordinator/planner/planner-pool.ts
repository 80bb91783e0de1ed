import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { Holdings, oneTooMany, withLeast } from '#shared/fair/holdings.ts';
import { Turns } from '#shared/fair/turns.ts';
import { parseJson } from '#shared/json.ts';
import { orAborted } from '#shared/or-aborted.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { QueryReferences } from '../binding/query-references.ts';
import type { Part } from '../statement/proven.ts';
import { tooComplex, type PlannerChild } from './planner-child.ts';
import { PlannerHost } from './planner-host.ts';
import type { PlannerReply, PlannerRequest } from './planner-message.ts';
import type {
  BindRequest,
  CompareReply,
  CompareRequest,
  DescribeReply,
  ParseRequest,
  Planner,
  PlanReply,
  PlanRequest,
  PostgresRequest,
  PostgresText,
  TranslateRequest,
} from '../binding/planner.ts';

export type PlannerPoolOptions = {
  /** `planner.processes`, at most */
  readonly processes: number;
  /** `planner.timeout`: a request that takes longer costs its process. */
  readonly timeoutMs: number;
  /** `planner.contended_timeout`: the same while another user waits for a process, in CPU time. */
  readonly contendedMs: number;
  /** `planner.start_timeout`: a process that is not ready by then is replaced; no other one is started meanwhile. */
  readonly startMs: number;
  /** `planner.memory_limit`: of the whole process; DuckDB gets half of it. */
  readonly memoryLimitBytes: number;
  /** After so many requests a process is replaced: what DuckDB does not give back (1.5 KB a request) stays small. */
  readonly requestsPerProcess: number;
  /** `planner.idle_memory`: a process that holds more when it has answered is replaced, because it gives little of it back. */
  readonly idleBytesMax: number;
};

/** Pause before a process that ended without serving anything is replaced. */
const RESTART_PAUSE_MS = 500;
const WAITING_MAX = 10_000;
/**
 * Time that a request goes on whose caller has given up. Most end within it, and their processes serve on: to start one takes the CPU of a
 * hundred short requests, so clients that keep giving up would leave the others without planners.
 */
const GIVEN_UP_MS = 250;
/** A request that waits for a process: it is given one, or fails with an error. */
type Served = { readonly request: PlannerRequest; readonly asker: Asker; readonly signal: AbortSignal };
type Waiting = Asker & { readonly give: (process: PlannerChild) => void; readonly fail: (error: SkeinError) => void };

/**
 * Planner processes, each serving one request at a time: one at first, and another whenever all have work. A process is killed and replaced at once when a request takes too long or too much
 * memory, and soon when it is cancelled: DuckDB folds constants without listening to an interrupt. Because nothing interrupts a request,
 *
 * - one tenant never has all of the processes, unless there is only one;
 * - a free one goes to the tenant that has fewest, within it to the principal that has fewest, and of equals to the one that has had
 *   least time;
 * - while somebody else waits for it, a request has `contendedMs` instead of `timeoutMs`. So each of those whose turn comes first delays
 *   the others by that time and the start of a process at most.
 */
export class PlannerPool implements Planner {
  readonly #options: PlannerPoolOptions;
  readonly #log: Logger;
  readonly #host: PlannerHost;
  readonly #idle: PlannerChild[] = [];
  readonly #waiting = new Set<Waiting>();
  /** Counts of busy processes per asker. */
  readonly #taken: Holdings;
  /** The busy processes, with the asker of each one's request. */
  readonly #busy = new Map<PlannerChild, Asker>();
  /** Time that the askers' requests took. */
  readonly #times = new Turns();
  /** Processes that have been started and are not ready yet. */
  #starting = 0;
  /** Processes for which a replacement was started, and those of them that end after their request. */
  readonly #replaced = new WeakSet<PlannerChild>();
  readonly #retired = new WeakSet<PlannerChild>();
  #closed = false;

  constructor(options: PlannerPoolOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#taken = new Holdings(options.processes);
    this.#host = new PlannerHost(options.memoryLimitBytes, log);
    this.#start();
  }

  async parse(request: ParseRequest, asker: Asker, signal: AbortSignal): Promise<QueryReferences> {
    const reply = await this.#call({ kind: 'parse', request }, asker, signal);
    if (reply.kind === 'parsed') return reply.references;
    throw new Error(`invariant: a planner answers parse with ${reply.kind}`);
  }

  async plan(request: PlanRequest, asker: Asker, signal: AbortSignal): Promise<PlanReply> {
    const reply = await this.#call({ kind: 'plan', request }, asker, signal);
    if (reply.kind === 'planned') return parseJson(reply.reply) as unknown as PlanReply;
    throw new Error(`invariant: a planner answers plan with ${reply.kind}`);
  }

  async bind(request: BindRequest, asker: Asker, signal: AbortSignal): Promise<readonly (string | null)[]> {
    const reply = await this.#call({ kind: 'bind', request }, asker, signal);
    if (reply.kind === 'bound') return reply.refusals;
    throw new Error(`invariant: a planner answers bind with ${reply.kind}`);
  }

  async translate(request: TranslateRequest, asker: Asker, signal: AbortSignal): Promise<string> {
    const reply = await this.#call({ kind: 'translate', request }, asker, signal);
    if (reply.kind === 'translated') return reply.sql;
    throw new Error(`invariant: a planner answers translate with ${reply.kind}`);
  }

  async postgres(request: PostgresRequest, asker: Asker, signal: AbortSignal): Promise<PostgresText | null> {
    const reply = await this.#call({ kind: 'postgres', request }, asker, signal);
    if (reply.kind === 'rewritten') return reply.text;
    throw new Error(`invariant: a planner answers postgres with ${reply.kind}`);
  }

  async compare(request: CompareRequest, asker: Asker, signal: AbortSignal): Promise<CompareReply> {
    const reply = await this.#call({ kind: 'compare', request }, asker, signal);
    if (reply.kind === 'compared') return reply.reply;
    throw new Error(`invariant: a planner answers compare with ${reply.kind}`);
  }

  async describe(request: PlanRequest, asker: Asker, signal: AbortSignal): Promise<DescribeReply> {
    const reply = await this.#call({ kind: 'describe', request }, asker, signal);
    if (reply.kind === 'described') return reply.reply;
    throw new Error(`invariant: a planner answers describe with ${reply.kind}`);
  }

  async checkParts(parts: readonly Part[], asker: Asker, signal: AbortSignal): Promise<void> {
    const reply = await this.#call({ kind: 'parts', parts }, asker, signal);
    if (reply.kind !== 'proven') throw new Error(`invariant: a planner answers parts with ${reply.kind}`);
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting) waiting.fail(stopping());
    for (const child of this.#busy.keys()) child.kill(stopping());
    return this.#host.close();
  }

  /** Process ids of the live processes, for logs and tests. */
  get pids(): readonly (number | undefined)[] {
    return this.#host.pids;
  }

  async #call(request: PlannerRequest, asker: Asker, signal: AbortSignal): Promise<PlannerReply> {
    if (signal.aborted) throw SkeinError.of(signal.reason);
    const child = await this.#take(asker, signal);
    // The caller does not wait for the end of what it has given up.
    return await orAborted(this.#serve(child, { request, asker, signal }), signal);
  }

  /** Has a process serve a request, and takes the process back. */
  async #serve(child: PlannerChild, { request, asker, signal }: Served): Promise<PlannerReply> {
    const sinceMs = performance.now();
    try {
      if (signal.aborted) throw SkeinError.of(signal.reason);
      return await this.#ask(child, request, signal);
    } finally {
      this.#taken.giveBack(asker, 1);
      this.#times.charge(asker, performance.now() - sinceMs);
      // A process that has ended is no longer in `#busy`.
      if (this.#busy.delete(child) && !child.isKilled) this.#give(child);
      this.#serveWaiting();
    }
  }

  async #ask(child: PlannerChild, request: PlannerRequest, signal: AbortSignal): Promise<PlannerReply> {
    let givenUp: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      givenUp = setTimeout(() => child.kill(SkeinError.of(signal.reason)), GIVEN_UP_MS);
    };
    signal.addEventListener('abort', cancel, { once: true });
    const timer = setTimeout(() => child.kill(tooComplex('takes too long to plan')), this.#options.timeoutMs);
    try {
      const reply = await child.call(request);
      if (reply.kind !== 'failed') return reply;
      const cause = reply.detail === '' ? undefined : new Error(reply.detail);
      throw new SkeinError(reply.error.code, reply.error.message, { position: reply.error.position, cause });
    } finally {
      clearTimeout(timer);
      clearTimeout(givenUp);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Takes a process that belongs to the asker until the request has ended. */
  #take(asker: Asker, signal: AbortSignal): Promise<PlannerChild> {
    if (this.#closed) throw stopping();
    if (this.#waiting.size >= WAITING_MAX) {
      const full = new SkeinError('QUEUE_FULL', 'too many statements are waiting to be planned');
      const leaving = oneTooMany(this.#waiting, asker);
      if (leaving === undefined) throw full;
      leaving.fail(full);
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', abort);
      };
      const waiting: Waiting = {
        tenant: asker.tenant,
        principal: asker.principal,
        give: (child) => {
          leave();
          this.#taken.take(asker, 1);
          this.#busy.set(child, asker);
          resolve(child);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = (): void => waiting.fail(SkeinError.of(signal.reason));
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiting);
      this.#serveWaiting();
    });
  }

  /** Gives free processes to the waiting requests whose turn it is. */
  #serveWaiting(): void {
    while (this.#idle.length > 0 && this.#waiting.size > 0) {
      const allowed = [...this.#waiting].filter((one) => this.#taken.ofTenant(one) < this.#tenantMax);
      const next = this.#times.pick(withLeast(allowed, this.#taken));
      const child = next === undefined ? undefined : this.#idle.pop();
      if (child === undefined) return;
      next?.give(child);
    }
    this.#startAhead();
  }

  /** Starts one more process when all have work: one that nobody has needed yet would hold 60 MB for nothing. */
  #startAhead(): void {
    const { length: idle } = this.#idle;
    if (idle > 0 || this.#starting > 0 || this.#busy.size >= this.#options.processes) return;
    this.#start();
  }

  get #tenantMax(): number {
    return Math.max(1, this.#options.processes - 1);
  }

  /**
   * Ends the longest request that another user waits for once it has used `contendedMs`. Requests are ended one at a time: none while a
   * process is being replaced.
   */
  #endContended(): void {
    if (this.#starting > 0 || this.#busy.keys().some((child) => child.isKilled)) return;
    const { contendedMs } = this.#options;
    const longest = this.#busy
      .entries()
      .filter(([child, asker]) => child.usedMs >= contendedMs && this.#isWaitedFor(asker))
      .reduce<PlannerChild | undefined>(
        (most, [child]) => (child.usedMs > (most?.usedMs ?? 0) ? child : most),
        undefined,
      );
    longest?.kill(tooComplex(`took more than ${contendedMs} ms to plan while others waited for a planner`));
  }

  /** Whether another principal waits for a process that this one holds, or for one of those that their common tenant may hold. */
  #isWaitedFor(asker: Asker): boolean {
    return this.#waiting.values().some((one) => {
      if (one.tenant !== asker.tenant) return this.#idle.length === 0 && this.#taken.ofTenant(one) < this.#tenantMax;
      return one.principal !== asker.principal;
    });
  }

  /** Takes a process back. */
  #give(child: PlannerChild): void {
    if (this.#retired.has(child)) {
      child.kill(stopping());
      return;
    }
    const { requestsPerProcess, idleBytesMax } = this.#options;
    const isWorn = child.served >= requestsPerProcess || child.residentBytes > idleBytesMax;
    if (isWorn && !this.#replaced.has(child)) this.#replace(child);
    this.#idle.push(child);
    this.#serveWaiting();
  }

  /** The old process serves until the new one is ready; then it ends, after the request that it is at. */
  #replace(old: PlannerChild): void {
    this.#replaced.add(old);
    this.#start(() => {
      this.#retired.add(old);
      const at = this.#idle.indexOf(old);
      if (at < 0) return;
      this.#idle.splice(at, 1);
      old.kill(stopping());
    });
  }

  #start(onReady: () => void = () => undefined): void {
    if (this.#closed) return;
    let isReady = false;
    this.#starting += 1;
    const late = setTimeout(() => {
      this.#log.warn({ plannerPid: child.pid }, 'a planner process has not become ready in time');
      child.kill(stopping());
    }, this.#options.startMs).unref();
    const child = this.#host.start({
      ready: () => {
        if (child.isKilled) return;
        clearTimeout(late);
        isReady = true;
        this.#starting -= 1;
        onReady();
        this.#give(child);
      },
      looked: () => this.#endContended(),
      ended: () => {
        clearTimeout(late);
        if (!isReady) this.#starting -= 1;
        this.#busy.delete(child);
        const at = this.#idle.indexOf(child);
        if (at >= 0) this.#idle.splice(at, 1);
        if (this.#closed || this.#replaced.has(child)) return;
        this.#log.warn({ plannerPid: child.pid }, 'planner process ended');
        if (isReady) this.#start();
        else setTimeout(() => this.#start(), RESTART_PAUSE_MS).unref();
      },
    });
  }
}

const stopping = (): SkeinError => new SkeinError('QUERY_CANCELLED', 'the coordinator is stopping');

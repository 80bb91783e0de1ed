import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { Holdings, inTurn, oneTooMany } from '#shared/fair/holdings.ts';
import { parseJson } from '#shared/json.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { QueryReferences } from '../resolver/query-references.ts';
import type { PlannerOptions, PlannerReply, PlannerRequest } from './planner-message.ts';
import type { BindRequest, ParseRequest, Planner, PlanReply, PlanRequest } from './planner.ts';

export type PlannerPoolOptions = {
  /** `planner.processes` */
  readonly processes: number;
  /** `planner.timeout`: a request that takes longer costs its process. */
  readonly timeoutMs: number;
  /** `planner.memory_limit`: of the whole process; DuckDB gets half of it. */
  readonly memoryLimitBytes: number;
  /** After so many requests a process is replaced: what DuckDB does not give back (1.5 KB a request) stays small. */
  readonly requestsPerProcess: number;
  /** `planner.idle_memory`: a process that holds more when it has answered is replaced, because it gives little of it back. */
  readonly idleBytesMax: number;
};

const ENTRY = fileURLToPath(new URL('planner-process.ts', import.meta.url));
/** Interval at which the memory of a busy process is read. */
const WATCH_INTERVAL_MS = 50;
/** Pause before a process that ended without serving anything is replaced. */
const RESTART_PAUSE_MS = 500;
const WAITING_MAX = 10_000;
/** JavaScript's own heap of a planner process: it holds one syntax tree or plan at a time. */
const JS_HEAP_MIB = 512;
/** Memory pages of Linux, the one system where `/proc` tells a process's size. */
const PAGE_BYTES = 4096;

const compiled = getCompileCacheDir();
/** The code that is compiled already is of use to planners as well. */
const COMPILED = compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };

/** Something that waits for a process: it is given one, or told why not. */
type Waiting = Asker & { readonly give: (process: PlannerChild) => void; readonly fail: (error: SkeinError) => void };

/**
 * Planner processes, each serving one request at a time. A free one goes to the tenant that has fewest, and one tenant never has all of
 * them, because a request may take as long as its timeout. A process is killed and replaced at once when a request takes too
 * long, takes too much memory or is cancelled: DuckDB folds constants without listening to an interrupt.
 */
export class PlannerPool implements Planner {
  readonly #options: PlannerPoolOptions;
  readonly #log: Logger;
  /** Empty, and the processes' working directory. */
  readonly #folder: string;
  readonly #children = new Set<PlannerChild>();
  readonly #idle: PlannerChild[] = [];
  readonly #waiting = new Set<Waiting>();
  /** Processes that are at a request, by whose it is. */
  readonly #taken: Holdings;
  /** Processes for which another one was started, and of those the ones that are to end. */
  readonly #replaced = new WeakSet<PlannerChild>();
  readonly #retired = new WeakSet<PlannerChild>();
  #closed = false;

  constructor(options: PlannerPoolOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    this.#taken = new Holdings(options.processes);
    this.#folder = mkdtempSync(join(tmpdir(), 'skein-planner-'));
    for (let i = 0; i < options.processes; i += 1) this.#start();
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

  close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting) waiting.fail(stopping());
    for (const child of this.#children) child.kill(stopping());
    rmSync(this.#folder, { recursive: true, force: true });
    return Promise.resolve();
  }

  /** Of the processes that live, for logs and tests. */
  get pids(): readonly (number | undefined)[] {
    return [...this.#children].map((child) => child.pid);
  }

  async #call(request: PlannerRequest, asker: Asker, signal: AbortSignal): Promise<PlannerReply> {
    if (signal.aborted) throw SkeinError.of(signal.reason);
    const child = await this.#take(asker, signal);
    try {
      if (!signal.aborted) return await this.#ask(child, request, signal);
      this.#give(child);
      throw SkeinError.of(signal.reason);
    } finally {
      this.#taken.giveBack(asker, 1);
      this.#serveWaiting();
    }
  }

  async #ask(child: PlannerChild, request: PlannerRequest, signal: AbortSignal): Promise<PlannerReply> {
    const cancel = (): void => child.kill(SkeinError.of(signal.reason));
    signal.addEventListener('abort', cancel, { once: true });
    const timer = setTimeout(() => child.kill(tooComplex('takes too long to plan')), this.#options.timeoutMs);
    try {
      const reply = await child.call(request);
      this.#give(child);
      if (reply.kind !== 'failed') return reply;
      const cause = reply.detail === '' ? undefined : new Error(reply.detail);
      throw new SkeinError(reply.error.code, reply.error.message, { position: reply.error.position, cause });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** A process that is the asker's until the request has ended. */
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

  /** Gives free processes to those whose turn it is. */
  #serveWaiting(): void {
    const tenantMax = Math.max(1, this.#options.processes - 1);
    while (this.#idle.length > 0 && this.#waiting.size > 0) {
      const next = inTurn(this.#waiting, this.#taken).find((one) => this.#taken.ofTenant(one) < tenantMax);
      const child = next === undefined ? undefined : this.#idle.pop();
      if (child === undefined) return;
      next?.give(child);
    }
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
    const child = new PlannerChild(this.#folder, this.#options.memoryLimitBytes, {
      ready: () => {
        onReady();
        this.#give(child);
      },
      ended: (wasReady) => {
        this.#children.delete(child);
        const at = this.#idle.indexOf(child);
        if (at >= 0) this.#idle.splice(at, 1);
        if (this.#closed || this.#replaced.has(child)) return;
        this.#log.warn({ plannerPid: child.pid }, 'planner process ended');
        if (wasReady) this.#start();
        else setTimeout(() => this.#start(), RESTART_PAUSE_MS).unref();
      },
    });
    this.#children.add(child);
  }
}

type ChildEvents = { readonly ready: () => void; readonly ended: (wasReady: boolean) => void };

type Call = { readonly resolve: (reply: PlannerReply) => void; readonly reject: (error: SkeinError) => void };

/** One process and the request that it is at. */
class PlannerChild {
  readonly #process: ChildProcess;
  readonly #memoryLimitBytes: number;
  #current: Call | null = null;
  #watch: NodeJS.Timeout | null = null;
  #killed: SkeinError | null = null;
  #isReady = false;
  #served = 0;
  #residentBytes = 0;

  constructor(folder: string, memoryLimitBytes: number, events: ChildEvents) {
    this.#memoryLimitBytes = memoryLimitBytes;
    const options: PlannerOptions = { memoryLimitBytes: Math.floor(memoryLimitBytes / 2) };
    this.#process = fork(ENTRY, [JSON.stringify(options)], {
      cwd: folder,
      env: { NODE_NO_WARNINGS: '1', ...COMPILED },
      execArgv: [`--max-old-space-size=${JS_HEAP_MIB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A long text is copied, and neither escaped nor parsed.
      serialization: 'advanced',
    });
    this.#process.on('message', (reply: PlannerReply) => {
      if (reply.kind === 'ready') {
        this.#isReady = true;
        events.ready();
        return;
      }
      this.#served += 1;
      const current = this.#end();
      current?.resolve(reply);
    });
    this.#process.on('error', () => undefined);
    this.#process.on('exit', () => {
      this.#end()?.reject(this.#killed ?? tooComplex('broke the planner'));
      events.ended(this.#isReady);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** At the last look; a request that is answered sooner than one is made takes little. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** Requests that were answered. */
  get served(): number {
    return this.#served;
  }

  call(request: PlannerRequest): Promise<PlannerReply> {
    return new Promise((resolve, reject) => {
      this.#current = { resolve, reject };
      this.#watch = setInterval(() => void this.#checkMemory(), WATCH_INTERVAL_MS);
      this.#process.send(request, (error) => {
        if (error !== null) this.kill(tooComplex('broke the planner'));
      });
    });
  }

  /** The request that runs, if any, fails with `error` as soon as the process has gone. */
  kill(error: SkeinError): void {
    this.#killed ??= error;
    this.#process.kill('SIGKILL');
  }

  #end(): Call | null {
    if (this.#watch !== null) clearInterval(this.#watch);
    const current = this.#current;
    this.#current = null;
    return current;
  }

  async #checkMemory(): Promise<void> {
    const statm = await readFile(`/proc/${this.#process.pid}/statm`, 'utf8').catch(() => '');
    this.#residentBytes = Number(statm.split(' ')[1] ?? 0) * PAGE_BYTES;
    if (this.#residentBytes > this.#memoryLimitBytes && this.#current !== null)
      this.kill(tooComplex('needs too much memory to plan'));
  }
}

const tooComplex = (why: string): SkeinError => new SkeinError('STATEMENT_TOO_COMPLEX', `the statement ${why}`);
const stopping = (): SkeinError => new SkeinError('QUERY_CANCELLED', 'the coordinator is stopping');

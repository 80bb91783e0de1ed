import type { Socket } from 'node:net';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { processUsage } from '#shared/process-usage.ts';
import { MessageSocket } from './message-socket.ts';
import type { PlannerReply, PlannerRequest } from './planner-message.ts';

/** Interval at which the memory and the CPU time of a busy process are read. */
const WATCH_INTERVAL_MS = 50;

export type ChildEvents = {
  readonly ready: () => void;
  readonly ended: () => void;
  /** Called after each look at a busy process. */
  readonly looked: () => void;
};

type Call = {
  readonly resolve: (reply: PlannerReply) => void;
  readonly reject: (error: SkeinError) => void;
  readonly sinceMs: number;
  /** CPU time of the process at the first look. */
  firstCpuMs: number | undefined;
  usedMs: number;
};

/** One planner process and the request that it is at. */
export class PlannerChild {
  readonly #memoryLimitBytes: number;
  readonly #end: () => void;
  readonly #events: ChildEvents;
  #pid: number | undefined;
  #socket: Socket | undefined;
  #messages: MessageSocket<PlannerRequest> | undefined;
  #current: Call | null = null;
  #watch: NodeJS.Timeout | undefined;
  #killed: SkeinError | null = null;
  #served = 0;
  #residentBytes = 0;

  /** @param end has the process killed; `ended` is called when it is gone */
  constructor(memoryLimitBytes: number, end: () => void, events: ChildEvents) {
    this.#memoryLimitBytes = memoryLimitBytes;
    this.#end = end;
    this.#events = events;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** Resident memory at the last look. A request that ends before the first look uses little. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** Requests that were answered. */
  get served(): number {
    return this.#served;
  }

  /** Whether it is about to end. */
  get isKilled(): boolean {
    return this.#killed !== null;
  }

  /** Time that the request has used, in ms: CPU time where the system tells it, else elapsed time. */
  get usedMs(): number {
    return this.#current?.usedMs ?? 0;
  }

  /** Called when the process exists. */
  started(pid: number): void {
    this.#pid = pid;
  }

  /** Called when the process has connected; its messages go to `receive`. */
  connected(socket: Socket, messages: MessageSocket<PlannerRequest>): void {
    this.#socket = socket;
    this.#messages = messages;
    this.#events.ready();
  }

  receive(reply: PlannerReply): void {
    this.#served += 1;
    this.#endCall()?.resolve(reply);
  }

  /** Called when the process is gone. */
  ended(): void {
    this.#socket?.destroy();
    this.#endCall()?.reject(this.#killed ?? tooComplex('broke the planner'));
    this.#events.ended();
  }

  call(request: PlannerRequest): Promise<PlannerReply> {
    return new Promise((resolve, reject) => {
      this.#current = { resolve, reject, sinceMs: performance.now(), firstCpuMs: undefined, usedMs: 0 };
      this.#watch = setInterval(() => void this.#look(), WATCH_INTERVAL_MS);
      must(this.#messages, 'a process that is ready').send(request);
    });
  }

  /** The request that runs, if any, fails with `error` as soon as the process has gone. */
  kill(error: SkeinError): void {
    if (this.#killed !== null) return;
    this.#killed = error;
    this.#end();
  }

  #endCall(): Call | null {
    clearInterval(this.#watch);
    const current = this.#current;
    this.#current = null;
    return current;
  }

  async #look(): Promise<void> {
    const call = this.#current;
    const usage = this.#pid === undefined ? undefined : await processUsage(this.#pid);
    if (call === null || this.#current !== call) return;
    if (usage === undefined) {
      call.usedMs = performance.now() - call.sinceMs;
    } else {
      this.#residentBytes = usage.residentBytes;
      call.firstCpuMs ??= usage.cpuMs;
      call.usedMs = usage.cpuMs - call.firstCpuMs;
    }
    if (this.#residentBytes > this.#memoryLimitBytes) this.kill(tooComplex('needs too much memory to plan'));
    else this.#events.looked();
  }
}

export const tooComplex = (why: string): SkeinError => new SkeinError('STATEMENT_TOO_COMPLEX', `the statement ${why}`);

import { spawn, type ChildProcess } from 'node:child_process';
import { SkeinError } from '#shared/error.ts';
import type { ServiceKind, ServiceRecord } from '../cluster-file.ts';
import { processIdentity } from '../process-identity.ts';
import { isKind, isStartMessage, type StartMessage, type TakeOverMessage } from './child-message.ts';
import { EXIT } from '../exit-code.ts';

/**
 * One service as a child process that is started again when it dies.
 *
 *   starting --ready--> up --exit--> waiting --delay--> starting
 *      |                                ^                  |
 *      +-- exit (first start: failed) --+------ exit ------+        any --stop()--> stopped
 *
 * An ordered exit (`EXIT.ordered`) skips the delay and does not count as a fault. A child that reports `endangered` gets a standby: a
 * process that has already loaded the program and takes over at once, where a start would cost a second of CPU.
 */
export type ChildSpec = {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly url: string | null;
  readonly metricsUrl?: string;
  /** Script and arguments for this Node. */
  readonly command: readonly string[];
  /** Script and arguments of its standby; absent if it has none. */
  readonly standbyCommand?: readonly string[];
  /** Environment of the child; defaults to this process's. */
  readonly environment?: NodeJS.ProcessEnv;
  /** How the child is asked to end; `ipc` for a child that ignores signals. */
  readonly stop: 'SIGTERM' | 'SIGINT' | 'ipc';
  /** Longest pause before it is restarted (`up.restart_pause_max`). */
  readonly restartPauseMaxMs: number;
  /** Folders that go with the child: it removes them itself unless it is killed. */
  readonly temporaryFolders?: readonly string[];
  /** A clean exit of the child is final: it is not restarted. */
  readonly mayEnd?: boolean;
};

/** Destination of a child's output; `ServiceLog` writes to a file. */
export type ChildLog = {
  readonly fd: number;
  readonly path: string;
  bytes(): number;
  lastLine(sinceBytes: number): string;
};

export type ChildEvents = {
  readonly onStarted: () => void;
  readonly onExit: (reason: string, restartDelayMs: number) => void;
  readonly onRestarted: (pid: number, ready: Ready) => void;
};

const RESTART_DELAY_MIN_MS = 100;
/** Time without a fault after which the restart delay is reset. */
const HEALTHY_MS = 60_000;
/** Time after which an unused standby ends. */
const STANDBY_MS = 60_000;
/** Time within which a service must report its start. */
const START_TIMEOUT_MS = 60_000;

type Running = { readonly process: ChildProcess; readonly pid: number; readonly exited: Promise<void> };
type Ready = Extract<StartMessage, { kind: 'ready' }>;

export class SupervisedChild {
  readonly spec: ChildSpec;
  readonly #log: ChildLog;
  readonly #events: ChildEvents;
  #running: Running | undefined;
  #standby: ChildProcess | undefined;
  #standbyTimer: NodeJS.Timeout | undefined;
  #record: ServiceRecord | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #stopping = false;
  #faults = 0;
  readonly #ended = Promise.withResolvers<number>();

  constructor(spec: ChildSpec, log: ChildLog, events: ChildEvents) {
    this.spec = spec;
    this.#log = log;
    this.#events = events;
  }

  /** The current process, for `services.json`; undefined while none runs. */
  get record(): ServiceRecord | undefined {
    return this.#record;
  }

  /** The first start. @throws what the child reports, START_FAILED */
  async start(): Promise<Ready> {
    const ready = await this.#run();
    this.#superviseCurrent();
    return ready;
  }

  /** Resolves to the exit code when the child has ended for good. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Forwards a termination signal to the child; the sender decides whether another one follows. */
  pass(signal: NodeJS.Signals): void {
    this.#stopping = true;
    clearTimeout(this.#restartTimer);
    this.#endStandby();
    if (this.#running === undefined) this.#ended.resolve(EXIT.ok);
    else this.#running.process.kill(signal);
  }

  /** Asks it to end, kills it after `timeoutMs`; resolves when it is gone. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restartTimer);
    this.#endStandby();
    const running = this.#running;
    if (running === undefined) return;
    if (this.spec.stop !== 'ipc') running.process.kill(this.spec.stop);
    else if (running.process.connected) running.process.send({ kind: 'stop' });
    else running.process.kill('SIGTERM');
    const timer = setTimeout(() => running.process.kill('SIGKILL'), timeoutMs);
    await running.exited;
    clearTimeout(timer);
  }

  #run(): Promise<Ready> {
    const offset = this.#log.bytes();
    const child = this.#takeStandby() ?? this.#spawn(this.spec.command);
    const { pid } = child;
    if (pid === undefined) {
      return new Promise((_resolve, reject) => {
        child.once('error', (cause) => reject(this.#failed(`cannot be started: ${cause.message}`)));
      });
    }
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        this.#running = undefined;
        this.#record = undefined;
        resolve();
      });
    });
    this.#running = { process: child, pid, exited };
    this.#setRecord(pid);
    child.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(this.#failed(`did not answer within ${START_TIMEOUT_MS / 1000} s`));
        child.kill('SIGKILL');
      }, START_TIMEOUT_MS);
      child.on('message', (message) => {
        if (isKind(message, 'endangered')) this.#prepareStandby();
        if (!isStartMessage(message)) return;
        clearTimeout(timer);
        if (message.kind === 'failed') {
          reject(SkeinError.fromData(message.error));
          return;
        }
        this.#setRecord(message.pid ?? pid);
        resolve(message);
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(this.#failed(`ended with ${endOf(code, signal)} at its start${this.#log.lastLine(offset)}`));
      });
    });
  }

  #spawn(command: readonly string[]): ChildProcess {
    return spawn(process.execPath, command, {
      stdio: ['ignore', this.#log.fd, this.#log.fd, 'ipc'],
      ...(this.spec.environment === undefined ? {} : { env: this.spec.environment }),
    });
  }

  #prepareStandby(): void {
    const { standbyCommand } = this.spec;
    if (standbyCommand === undefined || this.#stopping) return;
    clearTimeout(this.#standbyTimer);
    this.#standbyTimer = setTimeout(() => this.#endStandby(), STANDBY_MS);
    if (this.#standby !== undefined) return;
    const standby = this.#spawn(standbyCommand);
    this.#standby = standby;
    standby.on('error', () => undefined);
    standby.once('exit', () => {
      if (this.#standby === standby) this.#standby = undefined;
    });
  }

  #takeStandby(): ChildProcess | undefined {
    const standby = this.#standby;
    this.#standby = undefined;
    clearTimeout(this.#standbyTimer);
    if (standby?.connected !== true) return undefined;
    standby.send({ kind: 'take-over' } satisfies TakeOverMessage);
    return standby;
  }

  #endStandby(): void {
    clearTimeout(this.#standbyTimer);
    this.#standby?.kill('SIGKILL');
  }

  /** Restarts it whenever it ends from now on. */
  #superviseCurrent(): void {
    const running = this.#running;
    if (running === undefined) {
      this.#scheduleRestart('ended');
      return;
    }
    const upSince = performance.now();
    running.process.once('exit', (code, signal) => {
      if (performance.now() - upSince > HEALTHY_MS) this.#faults = 0;
      if (this.#stopping || (this.spec.mayEnd === true && code === EXIT.ok)) {
        this.#ended.resolve(code ?? EXIT.failed);
        return;
      }
      if (code === EXIT.ordered) this.#restartAtOnce(`ended with ${endOf(code, signal)}, as ordered`);
      else this.#scheduleRestart(`ended with ${endOf(code, signal)}`);
    });
  }

  /** Restarts the child without delay after an ordered exit, which does not count as a fault. */
  #restartAtOnce(reason: string): void {
    this.#events.onExit(reason, 0);
    void this.#restart();
  }

  #scheduleRestart(reason: string): void {
    if (this.#stopping) return;
    const longestMs = Math.max(RESTART_DELAY_MIN_MS, this.spec.restartPauseMaxMs);
    const delayMs = Math.min(RESTART_DELAY_MIN_MS * 2 ** this.#faults, longestMs);
    this.#faults += 1;
    this.#events.onExit(reason, delayMs);
    this.#restartTimer = setTimeout(() => void this.#restart(), delayMs);
  }

  async #restart(): Promise<void> {
    let ready: Ready;
    try {
      ready = await this.#run();
    } catch (error) {
      await this.#awaitEnd();
      this.#scheduleRestart(SkeinError.of(error).message);
      return;
    }
    if (this.#stopping) return;
    this.#superviseCurrent();
    this.#events.onRestarted(this.#record?.pid ?? 0, ready);
  }

  async #awaitEnd(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const timer = setTimeout(() => running.process.kill('SIGKILL'), 5_000);
    await running.exited;
    clearTimeout(timer);
  }

  #setRecord(pid: number): void {
    const { kind, name, url, metricsUrl } = this.spec;
    const metrics = metricsUrl === undefined ? {} : { metrics_url: metricsUrl };
    this.#record = { kind, name, pid, identity: processIdentity(pid) ?? '', url, ...metrics };
    this.#events.onStarted();
  }

  #failed(what: string): SkeinError {
    return new SkeinError('START_FAILED', `${this.spec.name} ${what}; its log: ${this.#log.path}`);
  }
}

const endOf = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `exit code ${code ?? 0}` : `signal ${signal}`;

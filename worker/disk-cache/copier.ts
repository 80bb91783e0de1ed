import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { must } from '#shared/must.ts';
import { processUsage } from '#shared/process-usage.ts';
import type { CopyReply, CopyRequest } from './copy-file.ts';

const PROGRAM = fileURLToPath(new URL('copy-process.ts', import.meta.url));
/** Time without a request after which the process ends. */
const IDLE_MS = 5_000;
const WATCH_INTERVAL_MS = 250;
/** CPU time of one copy, and memory of the process, at which it is killed. */
const CPU_MAX_MS = 60_000;
const MEMORY_MAX_BYTES = 2 ** 30;

const ENDED: CopyReply = { refused: 'the process that copies files has ended' };

type Current = {
  readonly child: ChildProcess;
  readonly resolve: (reply: CopyReply) => void;
  /** CPU time of the process at the first look. */
  firstCpuMs: number | undefined;
};

/** Has files copied by a process of its own, one at a time; the process is started when it is first needed. */
export class Copier {
  #child: ChildProcess | undefined;
  #current: Current | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Copies a file; the one before must have ended. @throws when no process can be started */
  async copy(request: CopyRequest): Promise<CopyReply> {
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    const watch = setInterval(() => void this.#look(child), WATCH_INTERVAL_MS);
    try {
      return await new Promise((resolve) => {
        this.#current = { child, resolve, firstCpuMs: undefined };
        child.send(request, (error) => {
          if (error !== null) resolve(ENDED);
        });
      });
    } finally {
      this.#current = undefined;
      clearInterval(watch);
      this.#idle = setTimeout(() => this.close(), IDLE_MS);
      this.#idle.unref();
    }
  }

  /** Ends the process, and the copy that it is at. */
  close(): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(PROGRAM, [], {
      env: { NODE_NO_WARNINGS: '1' },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const onEnd = (): void => {
      if (this.#child === child) this.#child = undefined;
      if (this.#current?.child === child) this.#current.resolve(ENDED);
    };
    child.on('message', (reply: CopyReply) => this.#current?.resolve(reply));
    child.on('error', onEnd);
    child.on('exit', onEnd);
    child.unref();
    must(child.channel, 'a process that is talked to').unref();
    return child;
  }

  async #look(child: ChildProcess): Promise<void> {
    const current = this.#current;
    const usage = child.pid === undefined ? undefined : await processUsage(child.pid);
    if (usage === undefined || current === undefined || this.#current !== current) return;
    current.firstCpuMs ??= usage.cpuMs;
    const isOver = usage.cpuMs - current.firstCpuMs > CPU_MAX_MS || usage.residentBytes > MEMORY_MAX_BYTES;
    if (isOver) child.kill('SIGKILL');
  }
}

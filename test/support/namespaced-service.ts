import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { must } from '#shared/must.ts';
import { projectRoot } from './cluster.ts';
import type { NetworkMember } from './network-namespaces.ts';

/** One service of a cluster, in a network namespace of its own as on a host of its own; it is not restarted when it ends. */
export class NamespacedService implements AsyncDisposable {
  readonly kind: 'catalog' | 'coordinator' | 'worker';
  readonly member: NetworkMember;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #log: string;
  #child: ChildProcess | undefined;

  constructor(
    kind: NamespacedService['kind'],
    member: NetworkMember,
    { environment, log }: { readonly environment: Readonly<Record<string, string>>; readonly log: string },
  ) {
    this.kind = kind;
    this.member = member;
    this.#environment = environment;
    this.#log = log;
  }

  /** @returns when it says that it is up */
  async start(): Promise<void> {
    const skein = ['--disable-warning=ExperimentalWarning', join(projectRoot, 'cli/skein.js'), this.kind];
    const bare = this.kind === 'worker' ? ['--bare'] : [];
    const log = openSync(this.#log, 'a');
    const child = spawn('ip', ['netns', 'exec', this.member.name, process.execPath, ...skein, ...bare], {
      cwd: projectRoot,
      env: { ...process.env, UV_THREADPOOL_SIZE: '16', ...this.#environment },
      stdio: ['ignore', 'pipe', log],
    });
    this.#child = child;
    const lines = createInterface({ input: must(child.stdout, 'a pipe') });
    const ended = once(child, 'exit').then(([code]) => [`exit ${String(code)}`]);
    const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
    if (!line.includes('"ready"')) throw new Error(`skein ${this.kind}: ${line}; see ${this.#log}`);
  }

  /** Ends the process, and waits for its end. `ip netns exec` becomes the process that it starts. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Stops the process from running, or lets it run again. */
  freeze(isFrozen: boolean): void {
    this.#child?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.freeze(false);
    await this.end('SIGKILL');
  }
}

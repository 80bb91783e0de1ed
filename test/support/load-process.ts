import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runLoad } from '#cli/load/run-load.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { accessTo } from './load-harness.ts';

/** `skein load` in a process of its own, which a test kills. */

type Order = {
  readonly args: readonly string[];
  readonly config: Config;
  readonly catalog: { readonly url: string; readonly internalAddress: string };
  readonly token: string;
};

/** Starts a load; `kill` ends it at once, as a crash does. */
export function startLoadProcess(order: Order): { kill(): Promise<void> } {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), {
    execPath: process.execPath,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send(order);
  return {
    async kill() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', ({ args, config, catalog, token }: Order) => {
    void runLoad(args, {
      config,
      connect: () => Promise.resolve(accessTo(catalog, token)),
      stdout: process.stdout,
      stderr: process.stderr,
      isTty: false,
      signal: new AbortController().signal,
    });
  });
}

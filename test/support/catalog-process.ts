import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CrashPoint } from '#catalog/context.ts';
import type { Config } from '#shared/config/config-schema.ts';

export type CatalogProcess = {
  readonly url: string;
  readonly internalAddress: string;
  /** Makes it die at its crash point from now on. */
  arm(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Resolves when it has died. */
  died(): Promise<void>;
};

/** Starts a catalog in a process of its own, on the data of `config`. */
export async function startCatalogProcess(config: Config, dieAt: CrashPoint | null = null): Promise<CatalogProcess> {
  const child = fork(fileURLToPath(new URL('crashing-catalog.ts', import.meta.url)), {
    execPath: process.execPath,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send({ config: { ...config, 'catalog.port': 0, 'catalog.internal_port': 0 }, dieAt });
  const { url, internalAddress } = await message<{ url: string; internalAddress: string }>(child);
  const died = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return {
    url,
    internalAddress,
    died,
    async arm() {
      child.send('arm');
      await message(child);
    },
    async kill() {
      child.kill('SIGKILL');
      await died();
    },
  };
}

async function message<T>(child: ChildProcess): Promise<T> {
  const early = new AbortController();
  const ended = once(child, 'exit', early).then(() => {
    throw new Error('the catalog ended before it was ready');
  });
  try {
    const [value] = (await Promise.race([once(child, 'message', early), ended])) as [T];
    return value;
  } finally {
    early.abort();
    ended.catch(() => undefined);
  }
}

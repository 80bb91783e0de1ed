import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ConfigKey } from '#shared/config/config-schema.ts';
import { must } from '#shared/must.ts';
import { projectRoot, settingsEnv } from './cluster.ts';

/** One `skein coordinator` of its own; disposing kills it. */
export type CoordinatorProcess = AsyncDisposable & { readonly url: string; readonly pid: number };

export async function startCoordinatorProcess(
  settings: Partial<Readonly<Record<ConfigKey, string>>>,
): Promise<CoordinatorProcess> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'cli/skein.js', 'coordinator'], {
    cwd: projectRoot,
    env: {
      ...process.env,
      ...settingsEnv({
        'coordinator.http_port': '0',
        'coordinator.flight_port': '0',
        'coordinator.postgres_port': '0',
        ...settings,
      }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { readonly url: string };
  return {
    url,
    pid: must(child.pid, 'it has started'),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    },
  };
}

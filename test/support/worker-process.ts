import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ConfigKey } from '#shared/config/config-schema.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { TestCoordinator } from './worker-client.ts';
import { projectRoot, settingsEnv } from './cluster.ts';
import { patience } from '#test/support/run/slowness.ts';

/** One `skein worker` of its own, with a coordinator as small as it can be. */
export type WorkerProcess = AsyncDisposable & {
  readonly at: TestCoordinator;
  readonly metricsUrl: string;
  readonly pid: number;
  /** Resolves to the exit code, or the signal, when it has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): void;
};

const START_TIMEOUT_MS = patience(60_000);
/** Ticks of a second in /proc. */
const TICKS = 100;

/** `security` is how the test talks to it, when that is not plaintext. */
export async function startWorkerProcess(
  settings: Partial<Readonly<Record<ConfigKey, string>>> & { readonly 'cluster.secret': string },
  security?: ChannelSecurity,
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'cli/skein.js', 'worker', '--bare'], {
    cwd: projectRoot,
    env: { ...process.env, ...settingsEnv({ 'worker.port': '0', ...settings }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const first = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(START_TIMEOUT_MS) }),
    ended.then(() => [undefined]),
  ]);
  const [line] = first as [string | undefined];
  if (line === undefined) throw new Error(`the worker did not start: ${log}`);
  const ready = JSON.parse(line) as { readonly url: string; readonly metrics_url: string };
  const at = new TestCoordinator(ready.url, settings['cluster.secret'], security);
  return {
    at,
    metricsUrl: ready.metrics_url,
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      at.close();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Data directory of a worker's own below a test's. */
export const workerSettings = (dataDir: string, name: string): Partial<Record<ConfigKey, string>> => ({
  data_dir: join(dataDir, name),
  'worker.name': name,
});

/** A gauge of a worker. */
export async function gauge({ metricsUrl }: Pick<WorkerProcess, 'metricsUrl'>, name: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
}

/** Resident memory of a process (Linux). */
export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

/** Time that a process has had on all cores, in milliseconds (Linux). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS;
}

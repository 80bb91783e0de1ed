import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './postgres.ts';
import { patience } from '#test/support/run/slowness.ts';

/** fake-gcs-server's Go module (BSD), a process of its own beside the tests. It checks no token: `google.ts` stands before it. */
const VERSION = '1.56.1';
const MODULE = `github.com/fsouza/fake-gcs-server@v${VERSION}`;
const FOLDER = join(import.meta.dirname, '../../.cache/fake-gcs-server', VERSION);

const START_TIMEOUT_MS = patience(60_000);
/** Time that a suite allows for building the server. */
export const GCS_BUILD_MS = 900_000;

export type FakeGcs = AsyncDisposable & {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  /** Ends the process, which forgets uploads that are not complete, and nothing else. */
  kill(): Promise<void>;
  /** Starts it again over the same objects. */
  start(): Promise<void>;
};

let built: Promise<string> | undefined;

function serverProgram(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const program = join(FOLDER, 'fake-gcs-server');
  if (existsSync(program)) return program;
  await mkdir(FOLDER, { recursive: true });
  // Two builds at once do no harm: each has a folder of its own.
  const folder = await mkdtemp(join(FOLDER, 'build-'));
  try {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-p=2' };
    await promisify(execFile)('go', ['install', MODULE], { cwd: folder, env, timeout: GCS_BUILD_MS });
    await rename(join(folder, 'fake-gcs-server'), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return program;
}

/** A store without a bucket. @param publicHost by whose name its clients call it */
export async function startFakeGcs(publicHost: string): Promise<FakeGcs> {
  const program = await serverProgram();
  const folder = await mkdtemp(join(tmpdir(), 'skein-gcs-'));
  const port = await freePort();
  const own = ['-host', '127.0.0.1', '-port', String(port), '-scheme', 'http', '-log-level', 'error'];
  const names = ['-public-host', publicHost, '-external-url', `http://${publicHost}`];
  const endpoint = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  };
  const start = async (): Promise<void> => {
    child = spawn(program, [...own, ...names, '-backend', 'filesystem', '-filesystem-root', folder], {
      stdio: 'ignore',
    });
    await untilHealthy(endpoint);
  };
  const stop = async (): Promise<void> => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, kill, start, [Symbol.asyncDispose]: stop };
}

async function untilHealthy(endpoint: string): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${endpoint}/_internal/healthcheck`).catch(() => undefined);
    if (answer?.ok === true) return;
    if (performance.now() > endMs) throw new Error(`fake-gcs-server is not ready after ${START_TIMEOUT_MS} ms`);
    await sleep(50);
  }
}

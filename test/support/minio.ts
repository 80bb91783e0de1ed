import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import { freePort } from './postgres.ts';
import { patience } from '#test/support/run/slowness.ts';

/** MinIO's Go module; its licence is the AGPL: it is a process of its own beside the tests, and is never bundled. */
const MODULE = 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c';
const FOLDER = join(import.meta.dirname, '../../.cache/minio', MODULE.replace(/^.*-/, ''));

const START_TIMEOUT_MS = patience(60_000);
/** Time that a suite allows for building the server. */
export const MINIO_BUILD_MS = 900_000;
const ROOT_KEY = { accessKeyId: 'skein-root-key', secretAccessKey: 'skein-root-secret-8c1e' };

export type Minio = AsyncDisposable & {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  /** The server's own key, which may do everything. */
  readonly key: S3Credential;
  makeBucket(name: string): Promise<void>;
  /** Stops the server as a crash does; `start` starts it again over the same objects. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

let built: Promise<string> | undefined;

/** The server's program, built once for all checkouts that share `.cache`. */
function minioProgram(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const program = join(FOLDER, 'minio');
  if (existsSync(program)) return program;
  await mkdir(FOLDER, { recursive: true });
  // Two builds at once do no harm: each has a folder of its own.
  const folder = await mkdtemp(join(FOLDER, 'build-'));
  try {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-p=2' };
    await promisify(execFile)('go', ['install', MODULE], { cwd: folder, env, timeout: MINIO_BUILD_MS });
    await rename(join(folder, 'minio'), program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return program;
}

/** A real S3 server with STS, over a folder of its own. */
export async function startMinio(): Promise<Minio> {
  const program = await minioProgram();
  const folder = await mkdtemp(join(tmpdir(), 'skein-minio-'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const key: S3Credential = {
    kind: 's3',
    ...ROOT_KEY,
    sessionToken: null,
    expiresAtMs: null,
    region: 'us-east-1',
    endpoint,
    pathStyle: true,
  };
  const client = new S3Client(key);
  let stop: (() => Promise<void>) | undefined;
  const start = async (): Promise<void> => {
    stop = startServer(program, { folder, port });
    await untilHealthy(endpoint);
  };
  const kill = async (): Promise<void> => {
    await stop?.();
    stop = undefined;
  };
  await start();
  return {
    endpoint,
    key,
    makeBucket: async (bucket) => void (await client.send({ bucket, key: '', method: 'PUT' })),
    kill,
    start,
    [Symbol.asyncDispose]: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startServer(
  program: string,
  { folder, port }: { readonly folder: string; readonly port: number },
): () => Promise<void> {
  const child = spawn(program, ['server', folder, '--address', `127.0.0.1:${port}`, '--quiet'], {
    stdio: 'ignore',
    env: {
      HOME: folder,
      MINIO_ROOT_USER: ROOT_KEY.accessKeyId,
      MINIO_ROOT_PASSWORD: ROOT_KEY.secretAccessKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_DOMAIN: 'localhost',
    },
  });
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
}

async function untilHealthy(endpoint: string): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${endpoint}/minio/health/ready`).catch(() => undefined);
    if (answer?.ok === true) return;
    if (performance.now() > endMs) throw new Error(`MinIO is not ready after ${START_TIMEOUT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

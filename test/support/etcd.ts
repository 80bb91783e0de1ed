import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './postgres.ts';

export type Etcd = AsyncDisposable & { readonly endpoint: string; keys(prefix: string): Promise<readonly string[]> };

const START_TIMEOUT_MS = 20_000;
const MEMORY_FOLDER = '/dev/shm';
/** Of its log alone etcd allocates 128 MB ahead; a container often has 64 MB there. */
const MEMORY_FREE_BYTES_MIN = 512 * 2 ** 20;

/** A new folder, in memory where that is possible: etcd waits for its disk, on a busy one until leases have run out. */
export async function makeEtcdFolder(): Promise<string> {
  return mkdtemp(join((await hasMemoryFolder()) ? MEMORY_FOLDER : tmpdir(), 'skein-etcd-'));
}

async function hasMemoryFolder(): Promise<boolean> {
  try {
    await access(MEMORY_FOLDER, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** A real etcd (Debian's etcd-server) with a folder of its own. Throws when the machine has none: a test of membership needs it. */
export async function startEtcd(listenHost = '127.0.0.1'): Promise<Etcd> {
  const folder = await makeEtcdFolder();
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    'etcd',
    [
      ['--data-dir', folder],
      ['--listen-client-urls', `http://${listenHost}:${port}`, '--advertise-client-urls', endpoint],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ].flat(),
    { stdio: 'ignore' },
  );
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('etcd did not start; install Debian’s etcd-server', { cause: error });
  });
  const end = performance.now() + START_TIMEOUT_MS;
  const healthy = async (): Promise<void> => {
    while (
      !(await fetch(`${endpoint}/health`).then(
        (r) => r.ok,
        () => false,
      ))
    ) {
      if (performance.now() > end) throw new Error(`etcd is not healthy after ${START_TIMEOUT_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.race([healthy(), failed]);
  return {
    endpoint,
    keys: (prefix) => listKeys(endpoint, prefix),
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Through etcd's JSON gateway: every key that starts with `prefix`. */
async function listKeys(endpoint: string, prefix: string): Promise<readonly string[]> {
  const key = Buffer.from(prefix);
  const last = Buffer.from(key);
  last[last.length - 1] = (last.at(-1) ?? 0) + 1;
  const response = await fetch(`${endpoint}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: key.toString('base64'), range_end: last.toString('base64'), keys_only: true }),
  });
  const { kvs = [] } = (await response.json()) as { kvs?: readonly { key: string }[] };
  return kvs.map((entry) => Buffer.from(entry.key, 'base64').toString());
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TlsFiles } from '#shared/grpc/tls-files.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { etcdClient } from '#shared/membership/etcd-membership.ts';
import type { TlsSettings } from './certificates.ts';
import type { NetworkMember } from './network-namespaces.ts';
import { freePort } from './postgres.ts';
import { patience } from '#test/support/run/slowness.ts';

export type Etcd = AsyncDisposable & {
  readonly endpoint: string;
  keys(prefix: string): Promise<readonly string[]>;
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** Stops the process from running, or lets it run again. */
  freeze(isFrozen: boolean): void;
};

const START_TIMEOUT_MS = patience(20_000);
const MEMORY_FOLDER = '/dev/shm';
/** etcd allocates 128 MB ahead for its log alone; a container often has 64 MB there. */
const MEMORY_FREE_BYTES_MIN = 512 * 2 ** 20;

/** Makes a folder, in memory where possible, because etcd waits for its disk, on a busy machine until leases have expired. */
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

export type EtcdSettings = {
  readonly listenHost?: string;
  /** The network namespace that it runs in, with an address of its own; the host reaches it there. */
  readonly member?: NetworkMember;
  /** Certificates of etcd and of the test's client; with them etcd requires TLS and client certificates. */
  readonly tls?: { readonly server: TlsSettings; readonly client: TlsSettings };
};

/** A real etcd (Debian's etcd-server) with a folder of its own. Throws when the machine has none: a test of membership needs it. */
export async function startEtcd({ member, tls, ...settings }: EtcdSettings = {}): Promise<Etcd> {
  const listenHost = member?.address ?? settings.listenHost ?? '127.0.0.1';
  const folder = await makeEtcdFolder();
  const port = await freePort();
  const scheme = tls === undefined ? 'http' : 'https';
  const endpoint = `${scheme}://${member?.address ?? '127.0.0.1'}:${port}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const inMember = member === undefined ? [] : ['netns', 'exec', member.name, 'etcd'];
  const child = spawn(
    member === undefined ? 'etcd' : 'ip',
    [
      inMember,
      ['--data-dir', folder],
      ['--listen-client-urls', `${scheme}://${listenHost}:${port}`, '--advertise-client-urls', endpoint],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
      ...(tls === undefined ? [] : [tlsArguments(tls.server)]),
    ].flat(),
    { stdio: 'ignore' },
  );
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('etcd did not start; install Debian’s etcd-server', { cause: error });
  });
  const files =
    tls &&
    new TlsFiles(
      { ca: tls.client['cluster.tls_ca'], cert: tls.client['cluster.tls_cert'], key: tls.client['cluster.tls_key'] },
      { intervalMs: 60_000, log: silentLogger },
    );
  const client = etcdClient({ endpoints: [endpoint], prefix: '', leaseTtlMs: 0, log: silentLogger, tls: files });
  const end = performance.now() + START_TIMEOUT_MS;
  const healthy = async (): Promise<void> => {
    while (
      !(await client.get('health').then(
        () => true,
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
    keys: (prefix) => client.getAll().prefix(prefix).keys(),
    put: async (key, value) => void (await client.put(key).value(value)),
    remove: async (key) => void (await client.delete().key(key)),
    freeze: (isFrozen) => void child.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      client.close();
      files?.[Symbol.dispose]();
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const tlsArguments = (server: TlsSettings): readonly string[] => [
  '--client-cert-auth',
  `--trusted-ca-file=${server['cluster.tls_ca']}`,
  `--cert-file=${server['cluster.tls_cert']}`,
  `--key-file=${server['cluster.tls_key']}`,
];

import type { Config } from '#shared/config/config-schema.ts';
import { probePostgres } from '#shared/database/probe-postgres.ts';
import { SkeinError } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { etcdOptions } from './open-membership.ts';

/** A way from one process to another; `problem` is undefined when it is open. */
export type Way = {
  readonly kind: 'postgres' | 'etcd' | 'catalog' | 'worker';
  readonly address: string;
  readonly problem: string | undefined;
};

/** Addresses (host:port) of internal ports to try. */
export type Others = { readonly catalogs: readonly string[]; readonly workers: readonly string[] };

const TIMEOUT_MS = 3_000;

/** Tries all ways that a process needs, at once: to Postgres and etcd as it is configured, and to the others that are named. */
export async function tryWays(config: Config, security: ChannelSecurity, others: Others): Promise<readonly Way[]> {
  const url = config['database.url'];
  return Promise.all([
    ...(url === '' ? [] : [tried('postgres', postgresAddress(url), () => probePostgres(url, TIMEOUT_MS))]),
    ...config['cluster.etcd_endpoints'].map((endpoint) => tried('etcd', endpoint, () => askEtcd(config, endpoint))),
    ...others.catalogs.map((address) => tried('catalog', address, () => connect(security, 'catalog', address))),
    ...others.workers.map((address) => tried('worker', address, () => connect(security, 'worker', address))),
  ]);
}

/** `host:port` of a URL of Postgres, without what is secret in it. */
export function postgresAddress(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '5432' : port}`;
}

async function tried(kind: Way['kind'], address: string, attempt: () => Promise<unknown>): Promise<Way> {
  try {
    await attempt();
    return { kind, address, problem: undefined };
  } catch (error) {
    const { message } = error instanceof SkeinError ? error : (error as Error);
    return { kind, address, problem: message === '' ? 'no answer' : message };
  }
}

/** @throws unless a process of the role answers and proves it */
function connect(security: ChannelSecurity, role: 'catalog' | 'worker', address: string): Promise<void> {
  const { Client } = loadService('member.proto', 'skein.member.v1.Member');
  let unproven: string | undefined;
  // A connection of its own: one that is shared may be open on this side only.
  const client = security.dial(
    Client,
    { address, role, onUnproven: (reason) => (unproven = reason) },
    { 'grpc.use_local_subchannel_pool': 1 },
  );
  return new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + TIMEOUT_MS, (error) => {
      if (error === undefined) resolve();
      else reject(new Error(unproven ?? `no connection within ${TIMEOUT_MS} ms`));
    });
  }).finally(() => client.close());
}

/** @throws unless this member of etcd answers */
async function askEtcd(config: Config, endpoint: string): Promise<void> {
  const { etcdClient } = await import('./etcd-membership.ts');
  const options = { ...etcdOptions(config, silentLogger), endpoints: [endpoint] };
  const client = etcdClient(options);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    const { leader } = await Promise.race([client.maintenance.status(), late]);
    if (leader === '0') throw new Error('this member of etcd knows no leader');
  } finally {
    clearTimeout(timer);
    client.close();
    options.tls?.[Symbol.dispose]();
  }
}

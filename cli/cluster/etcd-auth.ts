import { randomBytes } from 'node:crypto';
import { Range, type Etcd3 } from 'etcd3';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { etcdClient } from '#shared/membership/etcd-membership.ts';
import { etcdOptions } from '#shared/membership/open-membership.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** The unrestricted role of etcd, and the user that etcd requires before authentication can be enabled. */
const ROOT = 'root';

/** Key prefixes, after `cluster.etcd_prefix`, that a cluster role may read and write: a worker cannot become leader. */
const KEYS: Partial<Readonly<Record<ClusterRole, string>>> = {
  coordinator: '',
  worker: 'members/worker/',
  catalog: 'members/catalog/',
};

/**
 * `skein cluster etcd-auth`: creates etcd users named like the roles in the certificates. It runs with an operator's certificate, and only
 * that may change this later. A second run changes nothing.
 */
export async function etcdAuth({ config }: LoadedConfig): Promise<ExitCode> {
  if (config['cluster.etcd_endpoints'].length === 0) {
    throw new SkeinError('INVALID_CONFIGURATION', 'cluster.etcd_endpoints is not set');
  }
  const options = etcdOptions(config, silentLogger);
  const client = etcdClient(options);
  try {
    await grantRights(client, options.prefix);
    process.stdout.write('etcd asks its clients who they are\n');
    return EXIT.ok;
  } catch (cause) {
    throw new SkeinError('START_FAILED', `etcd refused: ${(cause as Error).message}`, { cause });
  } finally {
    client.close();
    options.tls?.[Symbol.dispose]();
  }
}

async function grantRights(client: Etcd3, prefix: string): Promise<void> {
  await unlessThere(client.role(ROOT).create());
  for (const user of [ROOT, 'operator']) {
    await unlessThere(newUser(client, user));
    await client.user(user).addRole(ROOT);
  }
  for (const [role, below] of Object.entries(KEYS)) {
    await unlessThere(client.role(role).create());
    await client.role(role).grant({ permission: 'Readwrite', range: Range.prefix(`${prefix}${below}`) });
    await unlessThere(newUser(client, role));
    await client.user(role).addRole(role);
  }
  await client.auth.authEnable();
}

/** Creates a user with a random password that nobody knows: it authenticates with its certificate. */
const newUser = (client: Etcd3, name: string): Promise<unknown> =>
  client.user(name).create(randomBytes(32).toString('base64url'));

async function unlessThere(made: Promise<unknown>): Promise<void> {
  try {
    await made;
  } catch (error) {
    if (!/already exists/.test((error as Error).message)) throw error;
  }
}

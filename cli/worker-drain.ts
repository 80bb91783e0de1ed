import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers } from '#shared/membership/list-members.ts';
import type { Member } from '#shared/membership/member.ts';
import { operatorSecurity } from './operator-security.ts';
import { findCluster } from './cluster-file.ts';
import { isOfHosts } from './status.ts';
import { EXIT, type ExitCode } from './exit-code.ts';

/** `skein worker drain`: returns when the worker has drained. @throws NO_CLUSTER, NO_WORKERS, UNAUTHENTICATED, WORKER_LOST */
export async function workerDrain({ config }: LoadedConfig, worker: string): Promise<ExitCode> {
  using security = operatorSecurity(config);
  const address = worker.includes(':') ? worker : await addressOf(config, worker);
  await drain(address, security);
  process.stdout.write(`${worker} is drained\n`);
  return EXIT.ok;
}

/** Returns host:port of a named worker of the cluster in the data directory, else of the one whose etcd is configured. */
async function addressOf(config: Config, name: string): Promise<string> {
  const workers = isOfHosts(config) ? await registered(config) : launched(config);
  const found = workers.find((worker) => worker.name === name);
  if (found === undefined) {
    const names = workers.map((worker) => worker.name).join(', ');
    throw new SkeinError('NO_WORKERS', `no worker is named ${name}; there are: ${names}`);
  }
  return found.address;
}

type NamedWorker = Pick<Member, 'name' | 'address'>;

const launched = (config: Config): readonly NamedWorker[] =>
  findCluster(config.data_dir).services.services.flatMap(({ kind, name, url }) =>
    kind === 'worker' && url !== null ? [{ name, address: new URL(url).host }] : [],
  );

const registered = async (config: Config): Promise<readonly NamedWorker[]> =>
  (await listMembers(config, silentLogger)).members.filter(({ kind }) => kind === 'worker');

async function drain(address: string, security: ChannelSecurity): Promise<void> {
  const { Client } = loadService('worker.proto', 'skein.worker.v1.Worker');
  const client = security.dial(Client, { address, role: 'worker' });
  try {
    await callUnary(client, 'Drain', {}, { keyring: security.keyring, lost: 'WORKER_LOST' });
  } finally {
    client.close();
  }
}

import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { operatorSecurity } from './operator-security.ts';
import { findCluster } from './cluster-file.ts';
import { EXIT, type ExitCode } from './exit-code.ts';

/** `skein worker drain`: returns when the worker has drained. @throws NO_CLUSTER, NO_WORKERS, UNAUTHENTICATED, WORKER_LOST */
export async function workerDrain({ config }: LoadedConfig, worker: string): Promise<ExitCode> {
  using security = operatorSecurity(config);
  const address = worker.includes(':') ? worker : addressOf(config.data_dir, worker);
  await drain(address, security);
  process.stdout.write(`${worker} is drained\n`);
  return EXIT.ok;
}

/** Returns host:port of a named worker of the cluster in a data directory. */
function addressOf(dataDir: string, name: string): string {
  const workers = findCluster(dataDir).services.services.filter(({ kind }) => kind === 'worker');
  const found = workers.find((service) => service.name === name);
  if (found?.url == null) {
    const names = workers.map((service) => service.name).join(', ');
    throw new SkeinError('NO_WORKERS', `no worker is named ${name}; there are: ${names}`);
  }
  return new URL(found.url).host;
}

async function drain(address: string, security: ChannelSecurity): Promise<void> {
  const { Client } = loadService('worker.proto', 'skein.worker.v1.Worker');
  const client = security.dial(Client, { address, role: 'worker' });
  try {
    await callUnary(client, 'Drain', {}, { keyring: security.keyring, lost: 'WORKER_LOST' });
  } finally {
    client.close();
  }
}

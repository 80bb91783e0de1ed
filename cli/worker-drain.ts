import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { operatorSecurity } from './operator-security.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { namedWorker } from './worker-address.ts';

/** `skein worker drain`: returns when the worker has drained. @throws NO_CLUSTER, NO_WORKERS, UNAUTHENTICATED, WORKER_LOST */
export async function workerDrain({ config }: LoadedConfig, worker: string): Promise<ExitCode> {
  using security = operatorSecurity(config);
  const address = worker.includes(':') ? worker : (await namedWorker(config, worker)).address;
  await drain(address, security);
  process.stdout.write(`${worker} is drained\n`);
  return EXIT.ok;
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

import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';
import { operatorSecurity } from './operator-security.ts';
import { namedWorker, namedWorkers } from './worker-address.ts';

/**
 * `skein worker cache clear`: of one worker, or of all. Queries go on: what they read stays until they end.
 * @throws NO_CLUSTER, NO_WORKERS, UNAUTHENTICATED, WORKER_LOST
 */
export async function clearWorkerCache({ config }: LoadedConfig, positionals: readonly string[]): Promise<ExitCode> {
  const [name, ...others] = positionals;
  if (others.length > 0) throw new UsageError('expected at most one NAME');
  using security = operatorSecurity(config);
  const workers = name === undefined ? await namedWorkers(config) : [await namedWorker(config, name)];
  const { Client } = loadService('worker.proto', 'skein.worker.v1.Worker');
  for (const worker of workers) {
    const client = security.dial(Client, { address: worker.address, role: 'worker' });
    try {
      const { bytes } = await callUnary(client, 'ClearCache', {}, { keyring: security.keyring, lost: 'WORKER_LOST' });
      process.stdout.write(`${JSON.stringify({ worker: worker.name, deleted_bytes: bytes })}\n`);
    } finally {
      client.close();
    }
  }
  return EXIT.ok;
}

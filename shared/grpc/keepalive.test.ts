import { Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { fixedKeyring } from '#shared/keyring.ts';
import { startSilentWire } from '#test/support/silent-wire.ts';
import { plainSecurity } from './channel-security.ts';
import { internalMetadata } from './internal-auth.ts';
import { KEEPALIVE } from './keepalive.ts';
import { loadService } from './load-proto.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const WORKER = loadService('worker.proto', 'skein.worker.v1.Worker');
const keyring = fixedKeyring('the-secret-of-the-cluster');
const security = plainSecurity(keyring);

test('both ends give a silent connection up within seconds, and the client has another as soon as the way is free', async () => {
  const server = new Server(KEEPALIVE);
  const left = Promise.withResolvers<void>();
  let opened = 0;
  server.addService(WORKER.definition, {
    Attach: (stream: ServerDuplexStream<object, object>) => {
      opened += 1;
      stream.on('cancelled', () => left.resolve());
      stream.on('error', () => undefined);
      stream.on('data', () => stream.write({}));
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', security.serverCredentials('127.0.0.1'), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const wire = await startSilentWire({ host: '127.0.0.1', port });
  const client = security.dial(WORKER.Client, { address: `127.0.0.1:${wire.port}`, role: 'worker' });
  onTestFinished(() => {
    client.close();
    server.forceShutdown();
    wire[Symbol.dispose]();
  });
  const attach = () => {
    const stream = client.Attach(internalMetadata(keyring));
    const broken = new Promise<void>((resolve) => stream.on('error', () => resolve()));
    const answered = new Promise<void>((resolve) => stream.once('data', () => resolve()));
    stream.write({});
    return { broken, answered };
  };
  const { answered, broken } = attach();
  await answered;
  wire.silence(true);
  const startMs = performance.now();
  await Promise.all([broken, left.promise]);
  expect(performance.now() - startMs).toBeLessThan(8_000 * machineSlowness());
  wire.silence(false);
  const backMs = performance.now();
  const again = attach();
  again.broken.catch(() => undefined);
  await again.answered;
  expect(performance.now() - backMs).toBeLessThan(3_000 * machineSlowness());
  expect(opened).toBe(2);
}, 20_000);

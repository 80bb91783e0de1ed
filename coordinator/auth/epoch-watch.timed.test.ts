import { AddressList } from '#shared/grpc/address-list.ts';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { startTestCatalog } from '#test/support/catalog.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { catalogClient } from '../catalog-client/catalog-client.ts';
import { EpochWatch } from './epoch-watch.ts';

test('a changed epoch is known within a second, also when the connection to the catalog died without a word', async () => {
  await using catalog = await startTestCatalog();
  const [host, port] = catalog.running.internalAddress.split(':');
  const frozen = new Set<Socket>();
  const open = new Map<Socket, Socket>();
  const proxy = createServer((socket) => {
    const upstream = connect(Number(port), must(host, 'an address'));
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
    open.set(socket, upstream);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const client = catalogClient({
    addresses: new AddressList([address]),
    security: plainSecurity(fixedKeyring(catalog.config['cluster.secret'])),
    cacheBytes: 1_000,
    readers: {} as WorkPool,
  });
  const watch = new EpochWatch(client, silentLogger);
  try {
    const newPrincipal = async (name: string): Promise<string> => {
      await catalog.call('CreateClient', { tenant: 'default', name });
      return must(decodeJwt(await catalog.mint({ user: name })).sub, 'every token has one');
    };
    const [one, two] = [await newPrincipal('one'), await newPrincipal('two')];
    await expect.poll(() => watch.current(one), { timeout: 5_000 }).toBe(0);
    await catalog.call('RotateClient', { tenant: 'default', name: 'one' });
    await expect.poll(() => watch.current(one), { timeout: KNOWN_WITHIN_MS }).toBe(1);

    for (const [socket, upstream] of open) {
      socket.unpipe(upstream);
      upstream.unpipe(socket);
      frozen.add(socket);
    }
    await catalog.call('DropClient', { tenant: 'default', name: 'two' });
    await expect.poll(() => watch.current(two), { timeout: KNOWN_WITHIN_MS }).toBe(2_147_483_647);
    expect(frozen.size).toBeGreaterThan(0);
  } finally {
    await watch.close();
    client.close();
    for (const socket of open.keys()) socket.destroy();
    proxy.close();
  }
});

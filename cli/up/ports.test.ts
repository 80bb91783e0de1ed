import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { choosePorts, catalogUrl } from './ports.ts';

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function takenPort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('any free ports: all different', async () => {
  const ports = await choosePorts(defaultConfig({ 'up.port_base': 0, 'up.workers': 3 }));
  const all = Object.values(ports).flat();
  expect(all).toHaveLength(12);
  expect(new Set(all).size).toBe(12);
});

test('a port that is taken is named with what it is for', async () => {
  const port = await takenPort();
  await expect(choosePorts(defaultConfig({ 'up.port_base': port - 10 }))).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    message: expect.stringContaining(`port ${port} (worker-1) of 127.0.0.1 is in use`) as string,
  });
});

test.each([
  [{ 'up.port_base': 65_000, 'up.workers': 256 }, 'up.workers', undefined],
  [{ 'catalog.port': 18_123, 'coordinator.http_port': 18_123 }, 'port 18123 is configured twice', 'refused'],
  [{ 'worker.port': 65_535, 'up.workers': 2 }, 'no ports left for 2 workers', 'refused'],
])('%j', async (overrides, message, outcome) => {
  const chosen = choosePorts(defaultConfig(overrides));
  if (outcome === 'refused') await expect(chosen).rejects.toThrow(message);
  else expect((await chosen).workers).toHaveLength(256);
});

test.each([
  [{ host: '127.0.0.1' }, 'http://127.0.0.1:80'],
  [{ host: '0.0.0.0' }, 'http://127.0.0.1:80'],
  [{ host: '::1' }, 'http://[::1]:80'],
  [{ host: '0.0.0.0', 'cluster.advertise_host': 'skein.example' }, 'http://skein.example:80'],
])('%j is reached at %s', (overrides, url) => {
  expect(catalogUrl(defaultConfig(overrides), 80)).toBe(url);
});

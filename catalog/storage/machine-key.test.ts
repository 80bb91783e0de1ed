import { afterEach, expect, test, vi } from 'vitest';
import { startMetadataServer } from '#test/support/metadata-server.ts';
import { MachineKeys } from './machine-key.ts';

afterEach(() => vi.unstubAllEnvs());

test('the key of an instance is asked for once, and again when it ends soon or was refused', async () => {
  await using server = await startMetadataServer();
  for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
  server.give({ accessKeyId: 'first', secretAccessKey: 's1', sessionToken: 't1', lifeMs: 3_600_000 });
  const keys = new MachineKeys();
  expect(await keys.key()).toMatchObject({ accessKeyId: 'first', secretAccessKey: 's1', sessionToken: 't1' });
  server.give({ accessKeyId: 'second', secretAccessKey: 's2', sessionToken: 't2', lifeMs: 1_000 });
  expect(await keys.key()).toMatchObject({ accessKeyId: 'first' });
  expect(await keys.key('first')).toMatchObject({ accessKeyId: 'second' });
  server.give({ accessKeyId: 'third', secretAccessKey: 's3', sessionToken: 't3', lifeMs: 3_600_000 });
  expect(await keys.key()).toMatchObject({ accessKeyId: 'third' });
});

test('a key that ends soon serves while the machine gives no other, unless it was refused or is about to end', async () => {
  await using server = await startMetadataServer();
  for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
  const keys = new MachineKeys();
  server.give({ accessKeyId: 'last', secretAccessKey: 's', sessionToken: 't', lifeMs: 120_000 });
  expect(await keys.key()).toMatchObject({ accessKeyId: 'last' });
  server.give(null);
  expect(await keys.key()).toMatchObject({ accessKeyId: 'last' });
  await expect(keys.key('last')).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  server.give({ accessKeyId: 'ending', secretAccessKey: 's', sessionToken: 't', lifeMs: 10_000 });
  expect(await keys.key()).toMatchObject({ accessKeyId: 'ending' });
  server.give(null);
  await expect(keys.key()).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
});

test('a machine without a key is a clear error', async () => {
  await using server = await startMetadataServer();
  for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
  await expect(new MachineKeys().key()).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
});

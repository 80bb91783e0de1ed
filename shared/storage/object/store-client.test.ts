import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AdlsCredential, StoreCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';

/** A store that knows only some keys, and notes those that come. */
const store = { known: new Set<string>(), seen: [] as string[] };
const server = createServer((incoming, answer) => {
  const name = new URL(incoming.url ?? '', 'http://store').searchParams.get('sig') ?? '';
  store.seen.push(name);
  if (store.known.has(name)) return void answer.end('text');
  answer.writeHead(403, { 'x-ms-error-code': 'AuthenticationFailed' }).end();
});
const FILE = 'abfss://container@account.dfs.core.windows.net/file';

let key: (name: string) => AdlsCredential;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  key = (name) => ({ kind: 'adls', sas: `sig=${name}`, expiresAtMs: null, endpoint });
});
beforeEach(() => Object.assign(store, { known: new Set(), seen: [] }));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Reads by key `a`, in whose place these come. @returns the text, and which keys were asked to be replaced */
async function read(others: readonly string[]): Promise<{ readonly text: Promise<string>; readonly asked: string[] }> {
  const asked: string[] = [];
  const renew = (old: StoreCredential): Promise<StoreCredential> => {
    asked.push(old.kind === 'adls' ? old.sas : '');
    return Promise.resolve(key(others[asked.length - 1] ?? 'none'));
  };
  const text = openStorage(FILE, key('a'), { renew }).read(FILE, 10).then(String);
  await text.catch(() => undefined);
  return { text, asked };
}

test('a key that comes in place of a refused one may be an older one, which is refused, too: another is asked for', async () => {
  store.known.add('c');
  const { text, asked } = await read(['b', 'c']);
  expect(await text).toBe('text');
  expect(asked).toEqual(['sig=a', 'sig=b']);
  expect(store.seen).toEqual(['a', 'b', 'c']);
});

test('a store that refuses each key is asked little', async () => {
  const { text, asked } = await read(['b', 'c', 'd', 'e']);
  await expect(text).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  expect([asked.length, store.seen]).toEqual([2, ['a', 'b', 'c']]);
});

test('the same key is not sent again to a store that has refused it', async () => {
  const { text, asked } = await read(['a']);
  await expect(text).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  expect([asked.length, store.seen]).toEqual([1, ['a']]);
});

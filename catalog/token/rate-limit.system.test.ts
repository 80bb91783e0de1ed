import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

const PER_ADDRESS = 12;
const PER_PRINCIPAL = 8;

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog({
    'catalog.token_rate_address': PER_ADDRESS,
    'catalog.token_rate_principal': PER_PRINCIPAL,
    'catalog.trusted_proxies': ['127.0.0.0/8', '10.9.9.9'],
  });
});
afterAll(() => catalog[Symbol.asyncDispose]());

type Client = { readonly client_id: string; readonly client_secret: string };
const ask = (client: Client, forwarded: string): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': forwarded },
  });
const newClient = (name: string): Promise<Client> => catalog.call('CreateClient', { tenant: 'default', name });
const expectRefused = (answer: RestAnswer): void => {
  expect([answer.status, answer.body['error']]).toEqual([429, 'temporarily_unavailable']);
  expect(answer.headers.get('content-type')).toContain('application/json');
  // With eight requests a minute the next one may come after at most 7.5 s, with twelve after 5 s.
  expect(answer.headers.get('retry-after')).toMatch(/^[1-8]$/);
};

test('an address has its allowance, whatever it asks, and no other pays for it', async () => {
  const nobody = { client_id: 'nobody', client_secret: 'x' };
  for (let i = 0; i < PER_ADDRESS; i += 1) expect((await ask(nobody, '192.0.2.1')).status).toBe(401);
  expectRefused(await ask(nobody, '192.0.2.1'));
  expect((await ask(nobody, '192.0.2.2')).status).toBe(401);
});

test('only addresses that trusted proxies add to X-Forwarded-For count, not those that a client sends', async () => {
  const nobody = { client_id: 'nobody', client_secret: 'x' };
  for (let i = 0; i < PER_ADDRESS; i += 1) {
    expect((await ask(nobody, `203.0.113.${i}, 192.0.2.7, 10.9.9.9`)).status).toBe(401);
  }
  expectRefused(await ask(nobody, '203.0.113.99, 192.0.2.7, 10.9.9.9'));
  expectRefused(await ask(nobody, '192.0.2.7'));
});

test('a client has its allowance over all addresses; who does not know its secret cannot use it up', async () => {
  const client = await newClient('busy');
  for (let i = 0; i < 2 * PER_PRINCIPAL; i += 1) {
    expect((await ask({ ...client, client_secret: 'wrong' }, `198.51.100.${i}`)).status).toBe(401);
  }
  for (let i = 0; i < PER_PRINCIPAL; i += 1) expect((await ask(client, `198.51.101.${i}`)).status).toBe(200);
  expectRefused(await ask(client, '198.51.101.100'));
  expect((await ask(await newClient('calm'), '198.51.101.100')).status).toBe(200);
});

test('a header of a peer that is no trusted proxy says nothing', async () => {
  await using other = await startTestCatalog({ 'catalog.token_rate_address': 2 });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': `192.0.2.${i}` };
    statuses.push((await other.rest('POST', '/v1/oauth/tokens', { token: null, raw: 'a=b', headers })).status);
  }
  expect(statuses).toEqual([400, 400, 429, 429]);
});

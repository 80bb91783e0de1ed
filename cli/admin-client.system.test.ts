import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES } from '#shared/token-claims.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ args: ['--workers', '1', '--worker-memory', '512MB', '--worker-cores', '1'] });
});
afterAll(async () => {
  await cluster?.stop();
});

type Client = {
  readonly tenant: string;
  readonly client: string;
  readonly client_id: string;
  readonly client_secret: string;
};
const admin = async (...args: readonly string[]): Promise<Client> =>
  JSON.parse(await cluster.cliOk(['admin', 'client', ...args])) as Client;
const tokenOf = async ({ client_id, client_secret }: Client): Promise<string> => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const response = await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
};
/** Of the catalog and of the coordinator. */
const statuses = async (token: string): Promise<readonly number[]> => [
  (await fetch(`${cluster.catalogUrl}/v1/lake/namespaces`, { headers: { authorization: `Bearer ${token}` } })).status,
  (await cluster.query('SHOW CATALOGS', { token })).status,
];

test('a client is made, signs in, and may do in SQL what its scopes say', async () => {
  const client = await admin('create', 'reader', '--role', 'analyst', '--scope', 'catalog:read namespace:read');
  expect(client).toEqual({
    tenant: 'default',
    client: 'reader',
    client_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    client_secret: expect.stringMatching(/^skein_cs_[\w-]{43}$/) as string,
  });
  const token = await tokenOf(client);
  expect(await statuses(token)).toEqual([200, 200]);
  const refused = await cluster.query('SELECT * FROM lake.default.t', { token });
  expect(refused).toMatchObject({ status: 403, body: { error: 'FORBIDDEN' } });
});

test('a list shows every client of the tenant and no secret', async () => {
  const { client_id, client_secret } = await admin('create', 'listed');
  const json = JSON.parse(await cluster.cliOk(['admin', 'client', 'list', '--json'])) as { clients: readonly object[] };
  expect(json.clients).toContainEqual({
    client: 'listed',
    client_id,
    status: 'ACTIVE',
    roles: [],
    scope: Object.keys(SCOPES),
    created_at: expect.stringMatching(/^20\d\d-.*Z$/) as string,
    rotated_at: null,
    old_secret_until: null,
  });
  const text = await cluster.cliOk(['admin', 'client', 'list']);
  expect(text).toMatch(/^client +client_id +status/);
  expect(text).toMatch(new RegExp(`^listed +${client_id} +ACTIVE +- +catalog:read`, 'm'));
  expect(text + JSON.stringify(json)).not.toContain(client_secret);
});

test.each(['drop', 'rotate'])('%s ends its tokens within a second at catalog and coordinator', async (what) => {
  const client = await admin('create', `ending-${what}`);
  const token = await tokenOf(client);
  expect(await statuses(token)).toEqual([200, 200]);
  const answer = await admin(what, `ending-${what}`);
  await expect.poll(() => statuses(token), { timeout: KNOWN_WITHIN_MS, interval: 20 }).toEqual([401, 401]);
  if (what === 'rotate') expect(await statuses(await tokenOf(answer))).toEqual([200, 200]);
  else expect(answer).toEqual({ tenant: 'default', client: 'ending-drop', dropped: true });
});

test('with --overlap both secrets open', async () => {
  const before = await admin('create', 'planned');
  const after = await admin('rotate', 'planned', '--overlap', '24h');
  expect(after.client_id).toBe(before.client_id);
  for (const client of [before, after]) expect(await statuses(await tokenOf(client))).toEqual([200, 200]);
  expect(await cluster.cliOk(['admin', 'client', 'list', '--json'])).toMatch(/"old_secret_until":"20/);
});

test.each([
  [['create'], 2, 'expected exactly one NAME'],
  [['create', 'x', '--scope', 'table:fly'], 1, 'table:fly'],
  [['create', 'x', '--scope', ' '], 2, '--scope'],
  [['create', 'x', '--role', 'a b'], 1, 'not a role name'],
  [['create', 'admin'], 1, 'already exists'],
  [['rotate', 'admin'], 1, 'Client does not exist: admin'],
  [['rotate', 'x', '--overlap', 'soon'], 2, '--overlap'],
  [['drop', 'nobody'], 1, 'Client does not exist: nobody'],
  [['list', '--tenant', 'nowhere'], 1, 'nowhere'],
])('skein admin client %j: exit %i', async (args, code, message) => {
  const result = await cluster.cli(['admin', 'client', ...args]);
  expect([result.code, result.stdout]).toEqual([code, '']);
  expect(result.stderr).toContain(message);
});

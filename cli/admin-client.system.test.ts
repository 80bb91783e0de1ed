import { beforeAll, expect, test } from 'vitest';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { AdminClients } from '#test/support/admin-clients.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

let cluster: Cluster;
let clients: AdminClients;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  clients = new AdminClients(cluster);
});

test('a client is made, signs in, and may do in SQL what its scopes say', async () => {
  const client = await clients.admin('create', 'reader', '--role', 'analyst', '--scope', 'catalog:read namespace:read');
  expect(client).toEqual({
    tenant: 'default',
    client: 'reader',
    client_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    client_secret: expect.stringMatching(/^skein_cs_[\w-]{43}$/) as string,
  });
  const token = await clients.tokenOf(client);
  expect(await clients.statuses(token)).toEqual([200, 200]);
  const refused = await cluster.query('SELECT * FROM lake.default.t', { token });
  expect(refused).toMatchObject({ status: 403, body: { error: 'FORBIDDEN' } });
});

test('a list shows every client of the tenant and no secret', async () => {
  const { client_id, client_secret } = await clients.admin('create', 'listed');
  const json = JSON.parse(await cluster.cliOk(['admin', 'client', 'list', '--json'])) as { clients: readonly object[] };
  expect(json.clients).toContainEqual({
    client: 'listed',
    client_id,
    status: 'ACTIVE',
    roles: [],
    // Its account has neither tenant_admin nor a privilege.
    scope: Object.keys(SCOPES).filter((scope) => !scope.startsWith('principal:')),
    created_at: expect.stringMatching(/^20\d\d-.*Z$/) as string,
    rotated_at: null,
    old_secret_until: null,
  });
  const text = await cluster.cliOk(['admin', 'client', 'list']);
  expect(text).toMatch(/^client +client_id +status/);
  expect(text).toMatch(new RegExp(`^listed +${client_id} +ACTIVE +- +catalog:read`, 'm'));
  expect(text + JSON.stringify(json)).not.toContain(client_secret);
});

test('with --overlap both secrets open', async () => {
  const before = await clients.admin('create', 'planned');
  const after = await clients.admin('rotate', 'planned', '--overlap', '24h');
  expect(after.client_id).toBe(before.client_id);
  for (const client of [before, after])
    expect(await clients.statuses(await clients.tokenOf(client))).toEqual([200, 200]);
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

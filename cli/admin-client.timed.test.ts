import { expect, test } from 'vitest';
import { AdminClients } from '#test/support/admin-clients.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { sharedCluster } from '#test/support/resources.ts';

test.each(['drop', 'rotate'])('%s ends its tokens within a second at catalog and coordinator', async (what) => {
  const clients = new AdminClients((await sharedCluster()).cluster);
  const client = await clients.admin('create', `ending-${what}`);
  const token = await clients.tokenOf(client);
  expect(await clients.statuses(token)).toEqual([200, 200]);
  const answer = await clients.admin(what, `ending-${what}`);
  await expect.poll(() => clients.statuses(token), { timeout: KNOWN_WITHIN_MS, interval: 20 }).toEqual([401, 401]);
  if (what === 'rotate') expect(await clients.statuses(await clients.tokenOf(answer))).toEqual([200, 200]);
  else expect(answer).toEqual({ tenant: 'default', client: 'ending-drop', dropped: true });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostCluster } from '#test/support/host-cluster.ts';
import { HOST_FAULTS } from '#test/support/host-faults.ts';
import { startLoad, type HostClient, type NumberedLoad } from '#test/support/numbered-load.ts';
import { underFault } from '#test/support/under-fault.ts';

/**
 * Every host of a cluster silent, and each of its processes stopped; every way from one host to another cut, one way; for seconds and for
 * more than a minute. Reads and numbered writes go on meanwhile. It needs root.
 */

const TABLE = 'lake."default".numbered';

let cluster: HostCluster;
let client: HostClient;
let load: NumberedLoad;

const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  if (!isRoot) return;
  cluster = await HostCluster.start();
  ({ client, load } = await startLoad(cluster, TABLE));
}, 180_000);

afterAll(async () => {
  await load?.stop();
  await cluster?.[Symbol.asyncDispose]();
});

test.skipIf(!isRoot).each(HOST_FAULTS)(
  '$name: clients are told the truth, and served again when it is over',
  (fault) => underFault({ cluster, client, load }, fault),
  200_000,
);

test.skipIf(!isRoot)(
  'every acknowledged row is there once, and none was invented',
  async () => {
    await load.stop();
    expect(load.writes).toBeGreaterThan(HOST_FAULTS.length);
    expect(await load.faults()).toEqual([]);
  },
  60_000,
);

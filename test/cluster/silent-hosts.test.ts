import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { skein } from '#test/support/cluster.ts';
import { HostCluster, urlOf } from '#test/support/host-cluster.ts';
import type { NamespacedService } from '#test/support/namespaced-service.ts';
import { chosenFaults } from '#test/support/host-faults.ts';
import { startLoad, type HostClient, type NumberedLoad } from '#test/support/numbered-load.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { underFault } from '#test/support/under-fault.ts';

/**
 * A cluster of eight hosts, each a network namespace, of which one after another falls silent: its packets vanish, without a refusal or a
 * reset. Reads and numbered writes go on meanwhile. Every pair of hosts, and longer: host-faults.full.test.ts. It needs root.
 */

const TABLE = 'lake."default".numbered';
const SILENCE_MS = 9_000;
const SETTLED_MS = 2_000;
const BACK_MS_MAX = 20_000;

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('silent-hosts.test.ts is SKIPPED: network namespaces need root\n');

let cluster: HostCluster;
let client: HostClient;
let load: NumberedLoad;

beforeAll(async () => {
  if (!isRoot) return;
  cluster = await HostCluster.start();
  ({ client, load } = await startLoad(cluster, TABLE));
}, 180_000);

afterAll(async () => {
  await load?.stop();
  await cluster?.[Symbol.asyncDispose]();
});

const leader = async (): Promise<NamespacedService> => must(await cluster.leader(), 'one leads');

type Said = { leader: string; workers_apart: string[]; members: { kind: string; name: string; state: string }[] };

/** `skein status` as an operator calls it; `code` is 0 when every member is well. */
async function status(): Promise<{ readonly code: number; readonly said: Said }> {
  const { code, stdout } = await skein(['status', '--json'], { env: cluster.operator });
  return { code, said: JSON.parse(stdout) as Said };
}

/** Waits until all members are there and well. */
async function allWell(): Promise<void> {
  const members = [...cluster.catalogs, ...cluster.coordinators, ...cluster.workers].length;
  const look = async (): Promise<{ readonly code: number; readonly members: number }> => {
    const { code, said } = await status();
    return { code, members: said.members.length };
  };
  await expect.poll(look, { timeout: BACK_MS_MAX, interval: 1_000 }).toEqual({ code: 0, members });
}

/** Does something to a host, waits, mends it, and waits until the cluster answers as before. @returns what clients saw */
async function during(work: { readonly hurt: () => unknown; readonly mend: () => unknown }): Promise<{
  readonly outageMs: number;
  readonly statementMs: number;
  readonly errors: readonly string[];
  readonly writes: number;
}> {
  await expect.poll(() => client.ask('SELECT 1'), { timeout: BACK_MS_MAX }).toEqual({ rows: [[1]] });
  await sleep(SETTLED_MS);
  load.measure();
  const writes = load.writes;
  await work.hurt();
  await sleep(SILENCE_MS);
  const seen = {
    outageMs: load.outageMsMax,
    statementMs: load.statementMsMax,
    errors: [...load.errors.keys()],
    writes: load.writes - writes,
  };
  await work.mend();
  await expect.poll(() => cluster.leader(), { timeout: BACK_MS_MAX }).toBeDefined();
  return seen;
}

test.skipIf(!isRoot).each([0, 1])(
  'a silent catalog costs statements a few seconds, and no lead: catalog %i',
  async (i) => {
    const before = await leader();
    const host = must(cluster.catalogs[i], 'a catalog').member;
    const seen = await during({ hurt: () => host.silence(true), mend: () => host.silence(false) });
    expect(seen.outageMs).toBeLessThan(6_000);
    expect(seen.writes).toBeGreaterThan(0);
    expect(await leader()).toBe(before);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'a silent leader is replaced within seconds, and stands by when it is back',
  async () => {
    const before = await leader();
    const seen = await during({
      hurt: () => before.member.silence(true),
      mend: () => before.member.silence(false),
    });
    expect(seen.outageMs).toBeLessThan(9_500);
    expect(await leader()).not.toBe(before);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'a leader that reaches no catalog leaves the lead to the one that does',
  async () => {
    const before = await leader();
    const catalogs = cluster.catalogs.map(({ member }) => member);
    const cut = (isCut: boolean) => async (): Promise<void> => {
      for (const catalog of catalogs) await before.member.cut(catalog, isCut);
    };
    const seen = await during({ hurt: cut(true), mend: cut(false) });
    expect(seen.outageMs).toBeLessThan(9_500);
    expect(await leader()).not.toBe(before);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'without etcd reads and writes go on, under the same leader',
  async () => {
    const before = await leader();
    const host = cluster.etcdHost;
    const seen = await during({ hurt: () => host.silence(true), mend: () => host.silence(false) });
    expect(seen).toMatchObject({ errors: [] });
    expect(seen.outageMs).toBeLessThan(2_500);
    expect(seen.writes).toBeGreaterThan(3);
    await sleep(SILENCE_MS);
    expect(await leader()).toBe(before);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'a leader that stands still is fenced',
  async () => {
    const before = await leader();
    const seen = await during({ hurt: () => before.freeze(true), mend: () => before.freeze(false) });
    expect(seen.outageMs).toBeLessThan(9_500);
    expect(await leader()).not.toBe(before);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'a silent worker costs statements a few seconds',
  async () => {
    const host = must(cluster.workers[0], 'a worker').member;
    const seen = await during({ hurt: () => host.silence(true), mend: () => host.silence(false) });
    expect(seen.outageMs).toBeLessThan(8_000);
    expect(seen.writes).toBeGreaterThan(0);
  },
  90_000,
);

test.skipIf(!isRoot).each(chosenFaults(fixedSeed()))(
  '$name: clients are told the truth, and served again when it is over',
  (fault) => underFault({ cluster, client, load }, fault),
  150_000,
);

test.skipIf(!isRoot)(
  'SIGTERM of the leader costs clients nothing but the way to the next one',
  async () => {
    // A planned stop begins when every member is well: a fault of this suite may have ended a moment ago.
    await allWell();
    const before = await leader();
    const seen = await during({ hurt: () => before.end('SIGTERM'), mend: () => before.start() });
    expect(seen.errors.filter((code) => code !== 'NOT_ACTIVE' && code !== 'NOBODY_LEADS')).toEqual([]);
    expect(seen.outageMs).toBeLessThan(4_000);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'an operator without a launcher sees the members, who leads and who is silent, and drains a worker by its name',
  async () => {
    await allWell();
    const { said } = await status();
    const kinds = said.members.map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['catalog', 'catalog', 'coordinator', 'coordinator', 'worker', 'worker']);
    expect([said.leader, said.workers_apart]).toEqual([urlOf(await leader()), []]);
    const catalog = must(cluster.catalogs[1], 'a catalog').member;
    await catalog.silence(true);
    const hurt = await status();
    await catalog.silence(false);
    expect([hurt.code, hurt.said.members.find(({ name }) => name === catalog.address)?.state]).toEqual([1, 'silent']);
    const drained = await skein(['worker', 'drain', 'worker-5'], { env: cluster.operator });
    expect([drained.code, drained.stdout]).toEqual([0, 'worker-5 is drained\n']);
    const none = await skein(['worker', 'drain', 'nobody'], { env: cluster.operator });
    expect([none.code, none.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('no worker is named nobody'),
    ]);
  },
  90_000,
);

test.skipIf(!isRoot)(
  'every acknowledged row is there once, and none was invented',
  async () => {
    await load.stop();
    expect(load.writes).toBeGreaterThan(20);
    expect(await load.faults()).toEqual([]);
  },
  60_000,
);

import { must } from '#shared/must.ts';
import type { HostCluster } from './host-cluster.ts';
import type { NetworkMember } from './network-namespaces.ts';

/** A host of the cluster: the one that leads now, and the other coordinator, are found when the fault begins. */
type Party = 'catalog 0' | 'catalog 1' | 'leader' | 'standby' | 'worker 0' | 'worker 1' | 'etcd' | 'Postgres';

/** One fault: what is hurt, for how long, and how it is undone. */
export type HostFault = {
  readonly name: string;
  readonly holdMs: number;
  /** Longest time without an answered read meanwhile; undefined = none may be answered. */
  readonly outageMsMax: number | undefined;
  /** @returns what mends it */
  hurt(cluster: HostCluster): Promise<() => Promise<void>>;
};

const PARTIES: readonly Party[] = [
  'catalog 0',
  'catalog 1',
  'leader',
  'standby',
  'worker 0',
  'worker 1',
  'etcd',
  'Postgres',
];
/** The pairs of hosts that talk with each other. */
const TALKING: readonly (readonly [Party, Party])[] = [
  ...(['catalog 0', 'catalog 1', 'worker 0', 'worker 1', 'etcd', 'Postgres'] as const).flatMap((other) => [
    ['leader', other] as const,
    ['standby', other] as const,
  ]),
  ...(['catalog 0', 'catalog 1'] as const).flatMap((catalog) => [
    [catalog, 'etcd'] as const,
    [catalog, 'Postgres'] as const,
  ]),
  ['worker 0', 'worker 1'],
  ['worker 0', 'etcd'],
  ['worker 1', 'etcd'],
];

const SILENCE_MS = 15_000;
const FREEZE_MS = 10_000;
const LONG_MS = 75_000;
/** A lease of 5 s and the begin of a term, or two silent workers one after the other. */
const OUTAGE_MS_MAX = 12_000;

async function memberOf(cluster: HostCluster, party: Party): Promise<NetworkMember> {
  if (party === 'etcd') return cluster.etcdHost;
  if (party === 'Postgres') return cluster.postgresHost;
  return (await serviceOf(cluster, party)).member;
}

async function serviceOf(cluster: HostCluster, party: Exclude<Party, 'etcd' | 'Postgres'>) {
  if (party === 'leader' || party === 'standby') {
    const leader = must(await cluster.leader(), 'one leads');
    return party === 'leader'
      ? leader
      : must(
          cluster.coordinators.find((one) => one !== leader),
          'another coordinator',
        );
  }
  const [kind, index] = party.split(' ');
  const list = kind === 'catalog' ? cluster.catalogs : cluster.workers;
  return must(list[Number(index)], 'a service');
}

/** Reads need the catalogs, which need Postgres. */
const outageOf = (parties: readonly Party[]): number | undefined =>
  parties.includes('Postgres') || (parties.includes('catalog 0') && parties.includes('catalog 1'))
    ? undefined
    : OUTAGE_MS_MAX;

const silenceOf = (parties: readonly Party[], holdMs: number): HostFault => ({
  name: `silence of ${parties.join(', ')} for ${holdMs / 1000} s`,
  holdMs,
  outageMsMax: outageOf(parties),
  async hurt(cluster) {
    const members = await Promise.all(parties.map((party) => memberOf(cluster, party)));
    for (const member of members) await member.silence(true);
    return async () => {
      for (const member of members) await member.silence(false);
    };
  },
});

const freezeOf = (party: Party): HostFault => ({
  name: `SIGSTOP of ${party} for ${FREEZE_MS / 1000} s`,
  holdMs: FREEZE_MS,
  outageMsMax: outageOf([party]),
  async hurt(cluster) {
    const target =
      party === 'etcd' ? cluster.etcd : party === 'Postgres' ? cluster.postgres : await serviceOf(cluster, party);
    await target.freeze(true);
    return async () => target.freeze(false);
  },
});

const cutOf = (from: Party, to: Party, holdMs: number): HostFault => ({
  name: `what ${from} sends to ${to} vanishes for ${holdMs / 1000} s`,
  holdMs,
  outageMsMax: OUTAGE_MS_MAX,
  async hurt(cluster) {
    const [one, other] = [await memberOf(cluster, from), await memberOf(cluster, to)];
    await one.cut(other, true);
    return () => one.cut(other, false);
  },
});

const cuts: readonly HostFault[] = TALKING.flatMap(([one, other]) => [
  cutOf(one, other, SILENCE_MS),
  cutOf(other, one, SILENCE_MS),
]);

/** Every fault of one host or one way between two, and long ones. About half an hour. */
export const HOST_FAULTS: readonly HostFault[] = [
  ...PARTIES.map((party) => silenceOf([party], SILENCE_MS)),
  silenceOf(['catalog 0', 'catalog 1'], SILENCE_MS),
  silenceOf(['etcd', 'Postgres'], SILENCE_MS),
  ...PARTIES.map(freezeOf),
  ...cuts,
  ...PARTIES.map((party) => silenceOf([party], LONG_MS)),
];

/** Those of `.ci/run`: other cuts for each seed. What silent-hosts.test.ts does by itself is not among them. */
export const chosenFaults = (seed: number): readonly HostFault[] => [
  silenceOf(['Postgres'], SILENCE_MS),
  ...(['catalog 0', 'standby', 'worker 1'] as const).map(freezeOf),
  ...[0, 1].map((i) => must(cuts[(seed + i * 17) % cuts.length], 'a cut')),
  silenceOf(['standby', 'catalog 1', 'worker 0'], LONG_MS),
];

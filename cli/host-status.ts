import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers, type Members } from '#shared/membership/list-members.ts';
import { memberAddress, type Member } from '#shared/membership/member.ts';
import { tryWays, type Others, type Way } from '#shared/membership/try-ways.ts';
import { accepts } from './accepts.ts';
import { findTarget, mintToken } from './catalog-rpc.ts';
import { describeMember, waysOf, type Described } from './ask-members.ts';
import { doorFetch, doorTrust } from './door-fetch.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { operatorSecurity } from './operator-security.ts';
import { printTable } from './print-table.ts';

const PROBE_TIMEOUT_MS = 2_000;
/** Clocks may differ so much: leases go by durations, but tokens and the history by the time of day. */
export const CLOCK_OFFSET_MS_MAX = 1_000;
/** A certificate that ends sooner is named. */
export const CERTIFICATE_SOON_MS = 30 * 86_400_000;

type MemberStatus = {
  readonly member: Member;
  readonly state: 'up' | 'silent';
  readonly leads: boolean;
  /** Undefined when it does not answer, or is of an older release. */
  readonly described: Described | undefined;
  readonly ways: readonly Way[];
};

/**
 * `skein status` of a cluster of several hosts, as etcd and the members themselves tell it: who is there and leads, releases, certificates,
 * clocks, and which ways are closed. It fails when nobody leads, or something does not work. @throws NO_CLUSTER, UNAUTHENTICATED
 */
export async function hostStatus(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const { config } = loaded;
  const found = await listMembers(config, silentLogger);
  using security = operatorSecurity(config);
  const [states, own] = await Promise.all([
    Promise.all(found.members.map((member) => statusOf(member, found, security))),
    // Nobody has an operator's machine connect to Postgres.
    tryWays({ ...config, 'database.url': '' }, security, { catalogs: [], workers: [] }),
  ]);
  const apart = found.leader === undefined ? undefined : await workersApart(loaded, found.leader.url);
  const problems = [...problemsOf(states, found), ...own.flatMap((way) => closedWay('this machine', way))];
  for (const pair of apart ?? []) problems.push(`these workers do not reach each other: ${pair}`);
  const warnings = [...warningsOf(states)];
  if (found.leader !== undefined && apart === undefined)
    warnings.push('the active coordinator does not say which workers reach each other');
  if (json) {
    const said = { members: states.map(toJson), leader: found.leader?.url ?? null, workers_apart: apart ?? null };
    process.stdout.write(`${JSON.stringify({ ...said, problems, warnings })}\n`);
  } else {
    process.stdout.write(
      printTable(['kind', 'name', 'state', 'release', 'clock', 'certificate', 'address'], states.map(toRow)),
    );
    for (const line of problems) process.stdout.write(`\nProblem: ${line}\n`);
    for (const line of warnings) process.stdout.write(`\nWarning: ${line}\n`);
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

async function statusOf(
  member: Member,
  { members, leader }: Members,
  security: ChannelSecurity,
): Promise<MemberStatus> {
  const leads = member.id === leader?.id;
  try {
    const described = await describeMember(security, member);
    const ways = await waysOf(security, member, othersOf(member, members)).catch(() => []);
    return { member, state: 'up', leads, described, ways };
  } catch (error) {
    const isOlder = ['NOT_SUPPORTED', 'INTERNAL_ERROR'].includes(SkeinError.of(error).code);
    const isUp = isOlder && (await accepts(memberAddress(member.address), PROBE_TIMEOUT_MS));
    return { member, state: isUp ? 'up' : 'silent', leads, described: undefined, ways: [] };
  }
}

/** The members that this one has to reach. */
function othersOf(member: Member, members: readonly Member[]): Others {
  const of = (kind: Member['kind']): readonly string[] =>
    members.filter((other) => other.kind === kind && other.id !== member.id).map(({ address }) => address);
  switch (member.kind) {
    case 'catalog':
      return { catalogs: [], workers: [] };
    case 'coordinator':
      return { catalogs: of('catalog'), workers: of('worker') };
    case 'worker':
      return { catalogs: [], workers: of('worker') };
  }
}

/** Lines about all that does not work. */
function problemsOf(states: readonly MemberStatus[], { leader }: Pick<Members, 'leader'>): string[] {
  const problems = leader === undefined ? ['no coordinator leads'] : [];
  for (const { member, state, described, ways } of states) {
    const name = nameOf(member);
    if (state === 'silent') problems.push(`${name} does not answer`);
    if (described?.notReady !== undefined) problems.push(`${name} is not ready: ${described.notReady}`);
    for (const { use, endsMs } of described?.certificates ?? []) {
      if (endsMs < Date.now()) problems.push(`${name}: the certificate (${use}) has ended on ${dayOf(endsMs)}`);
    }
    problems.push(...ways.flatMap((way) => closedWay(name, way)));
  }
  return problems;
}

/** Lines about all that will not work for long, or differs. */
function* warningsOf(states: readonly MemberStatus[]): Generator<string> {
  for (const { member, described } of states) {
    if (described === undefined) continue;
    const name = nameOf(member);
    if (Math.abs(described.clockOffsetMs) > CLOCK_OFFSET_MS_MAX)
      yield `${name}: its clock is ${described.clockOffsetMs} ms off this machine's`;
    for (const { use, endsMs } of described.certificates) {
      if (endsMs >= Date.now() && endsMs < Date.now() + CERTIFICATE_SOON_MS)
        yield `${name}: the certificate (${use}) ends on ${dayOf(endsMs)}`;
    }
  }
  const releases = new Set(states.flatMap(({ described }) => described?.release ?? []));
  if (releases.size > 1) yield `the members are of several releases: ${[...releases].toSorted().join(', ')}`;
}

const closedWay = (from: string, { kind, address, problem }: Way): readonly string[] =>
  problem === undefined ? [] : [`${from} does not reach ${kind} ${address}: ${problem}`];

const nameOf = ({ kind, name }: Member): string => `${kind} ${name}`;
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function toRow({ member, state, leads, described }: MemberStatus): readonly string[] {
  const ready = described?.notReady === undefined ? state : 'not ready';
  const ends = described?.certificates.map(({ endsMs }) => endsMs) ?? [];
  return [
    member.kind,
    member.name,
    leads && state === 'up' ? 'leads' : ready,
    described?.release ?? '',
    described === undefined ? '' : `${described.clockOffsetMs >= 0 ? '+' : ''}${described.clockOffsetMs} ms`,
    ends.length === 0 ? '' : `until ${dayOf(Math.min(...ends))}`,
    member.address,
  ];
}

const toJson = ({ member: { kind, name, address }, state, leads, described, ways }: MemberStatus): object => ({
  kind,
  name,
  address,
  state,
  leads,
  release: described?.release ?? null,
  not_ready: described?.notReady ?? null,
  clock_offset_ms: described?.clockOffsetMs ?? null,
  started: described === undefined ? null : new Date(described.startedMs).toISOString(),
  certificates: (described?.certificates ?? []).map(({ use, endsMs }) => ({
    use,
    ends: new Date(endsMs).toISOString(),
  })),
  ways: ways.map((way) => ({ kind: way.kind, address: way.address, problem: way.problem ?? null })),
});

/** Pairs of workers that do not reach each other; undefined when the active coordinator does not answer this operator. */
async function workersApart(loaded: LoadedConfig, url: string): Promise<readonly string[] | undefined> {
  try {
    const response = await doorFetch(`${url}/api/cluster?limit=1`, doorTrust(loaded.config), {
      headers: { authorization: `Bearer ${await mintToken(findTarget(loaded))}` },
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    return ((await response.json()) as { readonly workers_apart?: readonly string[] }).workers_apart;
  } catch {
    return undefined;
  }
}

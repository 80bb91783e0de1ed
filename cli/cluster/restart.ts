import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#shared/config/config-schema.ts';
import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers, type Members } from '#shared/membership/list-members.ts';
import type { Member } from '#shared/membership/member.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { operatorSecurity } from '../operator-security.ts';
import { isOfHosts } from '../status.ts';
import { describeMember, restartMember, waysOf, type Described } from '../ask-members.ts';

const KINDS = ['catalog', 'coordinator', 'worker'] as const satisfies readonly Member['kind'][];
/** Time that a process may take from its end until it is ready again, unless `--wait` names another. */
const COME_BACK = '2m';
const LOOK_MS = 500;
const NOT_STARTED =
  'it was not started again: its supervisor (systemd, Kubernetes) has to do that after a clean end, too';

type Parts = {
  readonly config: Config;
  readonly security: ChannelSecurity;
  readonly waitMs: number;
  readonly say: (line: string) => void;
};
/** A member that answers, with what it says. */
type Known = { readonly member: Member; readonly described: Described };

/**
 * `skein cluster restart`: has the members end one after the other, as SIGTERM does, and waits until whoever supervises each has started it
 * again and it is ready. It stops at the first that is not, and begins only when all are.
 * ```
 * catalogs ─> the first half of the workers ─> standbys ─> the leader ─> the other workers
 * ```
 * So a release that was installed meanwhile comes in as docs/upgrade.md says: workers of both are there while the lead changes.
 */
export async function clusterRestart(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const { config } = loaded;
  const kind = flags.text('kind');
  if (kind !== undefined && !KINDS.some((one) => one === kind))
    throw new UsageError(`--kind: expected one of ${KINDS.join(', ')}`);
  if (!isOfHosts(config)) {
    throw new SkeinError(
      'NO_CLUSTER',
      'cluster.etcd_endpoints is not set, or the cluster is that of skein up: skein down, then skein up',
    );
  }
  using security = operatorSecurity(config);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const parts = { config, security, waitMs: parseDuration(flags.text('wait') ?? COME_BACK), say };
  const beganMs = Date.now();
  await requireAllReady(parts);
  const half = Math.ceil((await knownOf(parts, 'worker')).length / 2);
  const steps = [
    ['catalog', Infinity],
    ['worker', half],
    ['coordinator', Infinity],
    ['worker', Infinity],
  ] as const;
  for (const [step, count] of steps) {
    if (kind !== undefined && kind !== step) continue;
    await restartSome(parts, { kind: step, count, beganMs });
  }
  say('all are ready');
  return EXIT.ok;
}

/** Restarts members of a kind that have not been started since, up to a number. */
async function restartSome(
  parts: Parts,
  { kind, count, beganMs }: { readonly kind: Member['kind']; readonly count: number; readonly beganMs: number },
): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const { leader } = await members(parts);
    const known = await knownOf(parts, kind);
    // Clocks of hosts differ.
    const left = known.filter(({ described }) => described.startedMs - described.clockOffsetMs < beganMs);
    // The leader last: its lead goes to one that has been restarted.
    const next = left.find(({ member }) => member.id !== leader?.id) ?? left[0];
    if (next === undefined) return;
    await requireAllReady(parts);
    if (kind === 'worker') await requireAnotherWorker(parts, next, known);
    await restartOne(parts, next);
  }
}

async function restartOne(parts: Parts, { member, described }: Known): Promise<void> {
  const { security, waitMs, say } = parts;
  const name = `${member.kind} ${member.name}`;
  const drainMs = await restartMember(security, member);
  say(`${name}: ends, within ${Math.ceil(drainMs / 1_000)} s`);
  let endMs = performance.now() + drainMs + waitMs;
  let hasEnded = false;
  for (;;) {
    await sleep(LOOK_MS);
    const found = (await members(parts)).members.filter(
      ({ kind, name: other }) => kind === member.kind && other === member.name,
    );
    if (!hasEnded && !found.some(({ id }) => id === member.id)) {
      hasEnded = true;
      endMs = Math.min(endMs, performance.now() + waitMs);
    }
    const back = found.find(({ id }) => id !== member.id);
    const problem = back === undefined ? (hasEnded ? NOT_STARTED : 'it has not ended') : await objectionTo(parts, back);
    if (problem === undefined) break;
    if (performance.now() > endMs) throw new SkeinError('START_FAILED', `${name} is not ready: ${problem}`);
  }
  say(`${name}: is ready again (before: ${described.release})`);
}

/** Why a member cannot do its work; undefined when it can. */
async function objectionTo(parts: Parts, member: Member): Promise<string | undefined> {
  const { security } = parts;
  try {
    const described = await describeMember(security, member);
    if (described.notReady !== undefined && !(await awaitsItsLeader(parts, member, described)))
      return described.notReady;
    const closed = (await waysOf(security, member, { catalogs: [], workers: [] })).find(
      ({ problem }) => problem !== undefined,
    );
    return closed === undefined ? undefined : `it does not reach ${closed.kind} ${closed.address}: ${closed.problem}`;
  } catch (error) {
    return SkeinError.of(error).message;
  }
}

/** Whether a worker is of a newer release than the leader: it waits for a coordinator of its own. */
async function awaitsItsLeader(parts: Parts, { kind }: Member, { release }: Described): Promise<boolean> {
  if (kind !== 'worker') return false;
  const leading = await leaderOf(parts);
  return leading !== undefined && leading.described.release !== release;
}

/** @throws START_FAILED unless every member is ready and one coordinator leads */
async function requireAllReady(parts: Parts): Promise<void> {
  // Within the time in which a lead changes, and workers are heard again.
  const endMs = performance.now() + parts.waitMs;
  for (;;) {
    const { members: all, leader } = await members(parts);
    const objections = await Promise.all(
      all.map(async (member) => {
        const why = await objectionTo(parts, member);
        return why === undefined ? [] : [`${member.kind} ${member.name} is not ready: ${why}`];
      }),
    );
    const [first = leader === undefined ? 'no coordinator leads' : undefined] = objections.flat();
    if (first === undefined) return;
    if (performance.now() > endMs) throw new SkeinError('START_FAILED', `${first}; nothing else is restarted`);
    await sleep(LOOK_MS);
  }
}

/** @throws START_FAILED when the leader would have no worker of its release left */
async function requireAnotherWorker(parts: Parts, { member }: Known, workers: readonly Known[]): Promise<void> {
  const leading = await leaderOf(parts);
  const others = workers.filter((other) => other.member.id !== member.id);
  if (leading === undefined || others.length === 0) return;
  const { release } = leading.described;
  if (others.some(({ described }) => described.release === release)) return;
  throw new SkeinError(
    'START_FAILED',
    `worker ${member.name} is the last one of the active coordinator's release (${release}): restart the coordinators first`,
  );
}

async function leaderOf(parts: Parts): Promise<Known | undefined> {
  const { leader } = await members(parts);
  return (await knownOf(parts, 'coordinator')).find(({ member }) => member.id === leader?.id);
}

/** Members of a kind that answer. */
async function knownOf(parts: Parts, kind: Member['kind']): Promise<readonly Known[]> {
  const found = (await members(parts)).members.filter((member) => member.kind === kind);
  const known = await Promise.all(
    found.map(async (member) => {
      const described = await describeMember(parts.security, member).catch(() => undefined);
      return described === undefined ? [] : [{ member, described }];
    }),
  );
  return known.flat();
}

const members = ({ config }: Parts): Promise<Members> => listMembers(config, silentLogger);

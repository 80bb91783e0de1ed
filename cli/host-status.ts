import { connect } from 'node:net';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers } from '#shared/membership/list-members.ts';
import { memberAddress, type Member } from '#shared/membership/member.ts';
import { findTarget, mintToken } from './catalog-rpc.ts';
import { doorFetch, doorTrust } from './door-fetch.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { printTable } from './print-table.ts';

const PROBE_TIMEOUT_MS = 2_000;

type MemberStatus = Pick<Member, 'kind' | 'name' | 'address'> & {
  readonly state: 'up' | 'silent';
  readonly leads: boolean;
};

/**
 * `skein status` of a cluster of several hosts: the members that etcd knows, whether each answers this machine, who leads, and which workers
 * do not reach each other. It fails when nobody leads, or a member does not answer. @throws NO_CLUSTER, UNAUTHENTICATED
 */
export async function hostStatus(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const { members, leader } = await listMembers(loaded.config, silentLogger);
  const states = await Promise.all(
    members.map(async ({ kind, id, name, address }): Promise<MemberStatus> => {
      const isUp = await accepts(memberAddress(address));
      return { kind, name, address, state: isUp ? 'up' : 'silent', leads: id === leader?.id };
    }),
  );
  const apart = leader === undefined ? undefined : await workersApart(loaded, leader.url);
  const isWell = leader !== undefined && states.every(({ state }) => state === 'up') && (apart ?? []).length === 0;
  if (json) {
    const said = { members: states, leader: leader?.url ?? null, workers_apart: apart ?? null };
    process.stdout.write(`${JSON.stringify(said)}\n`);
    return isWell ? EXIT.ok : EXIT.failed;
  }
  const rows = states.map(({ kind, name, address, state, leads }) => [kind, name, leads ? 'leads' : state, address]);
  process.stdout.write(printTable(['kind', 'name', 'state', 'address'], rows));
  if (leader === undefined) process.stdout.write('\nNo coordinator leads.\n');
  if (apart === undefined)
    process.stdout.write('\nThe active coordinator does not say which workers reach each other.\n');
  for (const pair of apart ?? []) process.stdout.write(`\nThese workers do not reach each other: ${pair}\n`);
  return isWell ? EXIT.ok : EXIT.failed;
}

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

/** Whether host:port accepts connections. */
function accepts(address: string): Promise<boolean> {
  const at = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connect({ host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

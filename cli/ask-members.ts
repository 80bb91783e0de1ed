import type { DescribeReply } from '#proto/generated/skein/member/v1/DescribeReply.ts';
import type { MemberClient } from '#proto/generated/skein/member/v1/Member.ts';
import { SkeinError } from '#shared/error.ts';
import { callUnary, type ReplyOf, type UnaryRequest, type UnaryMethod } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import type { Member } from '#shared/membership/member.ts';
import type { Others, Way } from '#shared/membership/try-ways.ts';

const DESCRIBE_TIMEOUT_MS = 3_000;
/** Longer than the member tries each way. */
const REACH_TIMEOUT_MS = 8_000;

/** A process as it describes itself. */
export type Described = {
  readonly id: string;
  readonly release: string;
  /** Its clock less this machine's; the error is half of the time that the call took. */
  readonly clockOffsetMs: number;
  readonly startedMs: number;
  /** Why it cannot do its work; undefined: it is ready. */
  readonly notReady: string | undefined;
  readonly certificates: readonly { readonly use: string; readonly endsMs: number }[];
};

/** host:port of the calls of `member.proto`; undefined for a coordinator of a release that did not have them. */
const internalAddress = ({ kind, address, internal }: Member): string | undefined =>
  internal ?? (kind === 'coordinator' ? undefined : address);

/** @throws WORKER_LOST, CATALOG_UNAVAILABLE when it does not answer, NOT_SUPPORTED when it is of an older release */
export async function describeMember(security: ChannelSecurity, member: Member): Promise<Described> {
  let askedMs = 0;
  // The time of the connection is left out of that of the call.
  const onConnected = (): void => void (askedMs = Date.now());
  const call = { request: {}, timeoutMs: DESCRIBE_TIMEOUT_MS, onConnected };
  const reply: DescribeReply = await callMember(security, member, 'Describe', call);
  return {
    id: reply.id,
    release: reply.release,
    clockOffsetMs: Math.round(Number(reply.now_ms) - (askedMs + Date.now()) / 2),
    startedMs: Number(reply.started_ms),
    notReady: reply.not_ready === '' ? undefined : reply.not_ready,
    certificates: reply.certificates.map(({ use, ends_ms }) => ({ use, endsMs: Number(ends_ms) })),
  };
}

/** Has a member try its ways. @throws as `describeMember` */
export async function waysOf(security: ChannelSecurity, member: Member, others: Others): Promise<readonly Way[]> {
  const request = { catalogs: [...others.catalogs], workers: [...others.workers] };
  const { ways } = await callMember(security, member, 'Reach', { request, timeoutMs: REACH_TIMEOUT_MS });
  return ways.map(({ kind, address, problem }) => ({
    kind: kind as Way['kind'],
    address,
    problem: problem === '' ? undefined : problem,
  }));
}

/** Has a member drain and end. @returns the time that it may take to end @throws as `describeMember` */
export async function restartMember(security: ChannelSecurity, member: Member): Promise<number> {
  const request = { id: member.id };
  return Number((await callMember(security, member, 'Restart', { request, timeoutMs: DESCRIBE_TIMEOUT_MS })).drain_ms);
}

type Asked<Name extends UnaryMethod<MemberClient>> = {
  readonly request: UnaryRequest<MemberClient, Name>;
  readonly timeoutMs: number;
  readonly onConnected?: () => void;
};

async function callMember<Name extends UnaryMethod<MemberClient>>(
  security: ChannelSecurity,
  member: Member,
  name: Name,
  { request, timeoutMs, onConnected = () => undefined }: Asked<Name>,
): Promise<ReplyOf<MemberClient, Name>> {
  const address = internalAddress(member);
  if (address === undefined) {
    throw new SkeinError('NOT_SUPPORTED', `the ${member.kind} ${member.name} is of a release without this call`);
  }
  const { Client } = loadService('member.proto', 'skein.member.v1.Member');
  const client = security.dial(Client, { address, role: member.kind });
  try {
    const lost = member.kind === 'worker' ? 'WORKER_LOST' : 'CATALOG_UNAVAILABLE';
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + timeoutMs, (error) => {
        if (error === undefined) resolve();
        else reject(new SkeinError(lost, `the ${member.kind} ${member.name} does not answer`, { cause: error }));
      });
    });
    onConnected();
    return await callUnary(client, name, request, { keyring: security.keyring, timeoutMs, lost });
  } finally {
    client.close();
  }
}

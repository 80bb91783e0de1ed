import type { sendUnaryData, Server, ServerUnaryCall } from '@grpc/grpc-js';
import type { DescribeReplyInput } from '#proto/generated/skein/member/v1/DescribeReply.ts';
import type { MemberHandlers } from '#proto/generated/skein/member/v1/Member.ts';
import type { ReachReplyInput } from '#proto/generated/skein/member/v1/ReachReply.ts';
import type { ReachRequest } from '#proto/generated/skein/member/v1/ReachRequest.ts';
import type { RestartReplyInput } from '#proto/generated/skein/member/v1/RestartReply.ts';
import type { RestartRequest } from '#proto/generated/skein/member/v1/RestartRequest.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { certificateDates } from '#shared/grpc/certificate-dates.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import type { Logger } from '#shared/log/logger.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { tryWays } from './try-ways.ts';

/** The process behind a member: its id of this start, and how it is ended from outside. */
export type MemberProcess = {
  readonly id: string;
  /** Has it end as SIGTERM does; whoever supervises it starts it again. */
  readonly restart: () => void;
};

type ServiceParts = {
  readonly member: MemberProcess;
  readonly config: Config;
  readonly security: ChannelSecurity;
  /** Why it cannot do its work; undefined when it is ready. */
  readonly notReady: () => string | undefined | Promise<string | undefined>;
  /** The time that it may take to end after `restart`. */
  readonly drainMs: number;
  readonly log: Logger;
};

/** Addresses that one call may name, so that it ends soon. */
const ADDRESSES_MAX = 256;

/** Adds the calls of `proto/member.proto` to a server of internal gRPC. */
export function addMemberService(
  server: Server,
  { member, config, security, notReady, drainMs, log }: ServiceParts,
): void {
  const startedMs = Date.now();
  const byOperator =
    <Request, Reply>(work: (request: Request) => Promise<Reply>) =>
    (call: ServerUnaryCall<Request, Reply>, callback: sendUnaryData<Reply>): void => {
      const answer = async (): Promise<void> => {
        let reply: Reply;
        try {
          security.admit(call, ['operator']);
          reply = await work(call.request);
        } catch (error) {
          callback(toServiceError(error));
          return;
        }
        callback(null, reply);
      };
      void answer();
    };
  const handlers: MemberHandlers = {
    Describe: byOperator(async (): Promise<DescribeReplyInput> => {
      // Read first: the rest may take its time.
      const nowMs = Date.now();
      return {
        id: member.id,
        release: SKEIN_RELEASE,
        now_ms: String(nowMs),
        started_ms: String(startedMs),
        not_ready: (await notReady()) ?? '',
        certificates: certificateDates(config).map(({ use, endsMs }) => ({ use, ends_ms: String(endsMs) })),
      };
    }),
    Reach: byOperator(async ({ catalogs, workers }: ReachRequest): Promise<ReachReplyInput> => {
      if (catalogs.length + workers.length > ADDRESSES_MAX)
        throw new SkeinError('INVALID_REQUEST', `more than ${ADDRESSES_MAX} addresses`);
      const ways = await tryWays(config, security, { catalogs, workers });
      return { ways: ways.map(({ kind, address, problem = '' }) => ({ kind, address, problem })) };
    }),
    Restart: byOperator(async ({ id }: RestartRequest): Promise<RestartReplyInput> => {
      if (id !== member.id) throw new SkeinError('INVALID_REQUEST', 'another process is meant, which has ended');
      log.info('an operator has this process end, to be started again');
      // After the answer.
      setImmediate(() => member.restart());
      return { drain_ms: String(drainMs) };
    }),
  };
  server.addService(loadService('member.proto', 'skein.member.v1.Member').definition, handlers);
}

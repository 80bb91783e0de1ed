import { Server } from '@grpc/grpc-js';
import type { Config } from '#shared/config/config-schema.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { Logger } from '#shared/log/logger.ts';
import { addMemberService, type MemberProcess } from '#shared/membership/member-service.ts';

type Parts = {
  readonly config: Config;
  readonly security: ChannelSecurity;
  readonly member: MemberProcess;
  readonly notReady: () => string | undefined;
  readonly log: Logger;
};

/** Time that a coordinator takes to hand over the lead and to close, beside that of its statements. */
const HAND_OVER_MS = 10_000;

/**
 * Serves the calls of `proto/member.proto` on `coordinator.internal_port`: the coordinator has no other internal port.
 * @returns host:port under which other hosts reach it @throws PORT_IN_USE
 */
export async function openMemberServer({
  config,
  security,
  ...parts
}: Parts): Promise<{ address: string; close(): Promise<void> }> {
  const { internal_host: host, 'coordinator.internal_port': port, 'cluster.advertise_host': advertised } = config;
  const server = new Server();
  const drainMs = config['coordinator.drain_timeout'] + HAND_OVER_MS;
  addMemberService(server, { ...parts, config, security, drainMs });
  const bound = await security.listen(server, host, port);
  return { address: `${advertised || host}:${bound.port}`, close: () => bound.close() };
}

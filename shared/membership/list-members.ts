import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Candidate } from './election.ts';
import { etcdClient } from './etcd-membership.ts';
import { parseCandidate } from './held-key.ts';
import { parseMember, type Member } from './member.ts';
import { etcdOptions } from './open-membership.ts';

/** The members that are registered in etcd now, and the coordinator that leads. */
export type Members = { readonly members: readonly Member[]; readonly leader: Candidate | undefined };

const KINDS = ['catalog', 'coordinator', 'worker'] as const satisfies readonly Member['kind'][];
const TIMEOUT_MS = 5_000;

/** Reads once who is there. @throws NO_CLUSTER when etcd does not answer, INVALID_CONFIGURATION when none is configured */
export async function listMembers(config: Config, log: Logger): Promise<Members> {
  if (config['cluster.etcd_endpoints'].length === 0) {
    throw new SkeinError('INVALID_CONFIGURATION', 'cluster.etcd_endpoints is not set');
  }
  const options = etcdOptions(config, log);
  const client = etcdClient(options);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    const read = async (): Promise<Members> => {
      const found = await Promise.all(
        KINDS.map(async (kind) => {
          const entries = await client.getAll().prefix(`${options.prefix}members/${kind}/`).strings();
          return Object.values(entries).flatMap((text) => parseMember(text, kind) ?? []);
        }),
      );
      const leader = parseCandidate(await client.get(`${options.prefix}leader/coordinator`).string());
      return { members: found.flat(), leader };
    };
    return await Promise.race([read(), late]);
  } catch (cause) {
    throw new SkeinError('NO_CLUSTER', `etcd does not answer: ${(cause as Error).message}`, { cause });
  } finally {
    clearTimeout(timer);
    client.close();
    options.tls?.[Symbol.dispose]();
  }
}

import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers } from '#shared/membership/list-members.ts';
import type { Member } from '#shared/membership/member.ts';
import { findCluster } from './cluster-file.ts';
import { isOfHosts } from './status.ts';

type NamedWorker = Pick<Member, 'name' | 'address'>;

/** The workers of the cluster in the data directory, else of the one whose etcd is configured; `address` is host:port. */
export const namedWorkers = async (config: Config): Promise<readonly NamedWorker[]> =>
  isOfHosts(config) ? registered(config) : launched(config);

/** @throws NO_WORKERS */
export async function namedWorker(config: Config, name: string): Promise<NamedWorker> {
  const workers = await namedWorkers(config);
  const found = workers.find((worker) => worker.name === name);
  if (found !== undefined) return found;
  const names = workers.map((worker) => worker.name).join(', ');
  throw new SkeinError('NO_WORKERS', `no worker is named ${name}; there are: ${names}`);
}

const launched = (config: Config): readonly NamedWorker[] =>
  findCluster(config.data_dir).services.services.flatMap(({ kind, name, url }) =>
    kind === 'worker' && url !== null ? [{ name, address: new URL(url).host }] : [],
  );

const registered = async (config: Config): Promise<readonly NamedWorker[]> =>
  (await listMembers(config, silentLogger)).members.filter(({ kind }) => kind === 'worker');

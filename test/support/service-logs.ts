import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StartedCluster } from './cluster.ts';

/** Everything that the processes of a cluster have logged: each service has a file of its own. */
export async function serviceLogs({ dataDir, log }: Pick<StartedCluster, 'dataDir' | 'log'>): Promise<string> {
  const folder = join(dataDir, 'logs');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.log'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return [log, ...texts].join('\n');
}

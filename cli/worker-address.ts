import { SkeinError } from '#shared/error.ts';
import { findCluster } from './cluster-file.ts';

/** A worker of the cluster in a data directory; `address` is host:port. */
type NamedWorker = { readonly name: string; readonly address: string };

export function namedWorkers(dataDir: string): readonly NamedWorker[] {
  const workers = findCluster(dataDir).services.services.filter(({ kind }) => kind === 'worker');
  return workers.flatMap(({ name, url }) => (url == null ? [] : [{ name, address: new URL(url).host }]));
}

/** @throws NO_WORKERS */
export function namedWorker(dataDir: string, name: string): NamedWorker {
  const workers = namedWorkers(dataDir);
  const found = workers.find((worker) => worker.name === name);
  if (found !== undefined) return found;
  const names = workers.map((worker) => worker.name).join(', ');
  throw new SkeinError('NO_WORKERS', `no worker is named ${name}; there are: ${names}`);
}

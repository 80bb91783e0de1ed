import { readFile, readdir } from 'node:fs/promises';
import type { Cluster } from '#test/support/cluster.ts';

/** Clock ticks per second of Linux, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

type Service = { readonly kind: string; readonly pid: number };

export async function servicesOf(cluster: Cluster): Promise<readonly Service[]> {
  const { services } = JSON.parse(await cluster.cliOk(['status', '--json'])) as { services: readonly Service[] };
  return services;
}

/** CPU seconds that all workers of a cluster have taken since they started. */
export async function workerSeconds(services: readonly Service[]): Promise<number> {
  const all = await processTable();
  const workers = services.filter(({ kind }) => kind === 'worker');
  return workers.reduce((sum, { pid }) => sum + treeSeconds(all, pid), 0);
}

export type ProcessEntry = { readonly parent: number; readonly seconds: number };

export async function processTable(): Promise<ReadonlyMap<number, ProcessEntry>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(
    pids.map(async (pid): Promise<readonly [number, ProcessEntry] | undefined> => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // After the command's name, which may hold anything: state, parent, ...; fields 14 to 17 of the line are the user and system time of
      // the process and of its children that have ended.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const seconds = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
      return stat === '' ? undefined : [Number(pid), { parent: Number(fields[1]), seconds }];
    }),
  );
  return new Map(entries.filter((entry) => entry !== undefined));
}

/** CPU seconds of a process and all its descendants. */
export function treeSeconds(all: ReadonlyMap<number, ProcessEntry>, root: number): number {
  let seconds = all.get(root)?.seconds ?? 0;
  for (const [pid, { parent }] of all) if (parent === root) seconds += treeSeconds(all, pid);
  return seconds;
}

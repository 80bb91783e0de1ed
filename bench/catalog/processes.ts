import { readFile, readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';

/** Clock ticks per second of Linux, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

type Service = { readonly kind: string; readonly pid: number };
type Usage = { readonly atMs: number; readonly catalog: number; readonly postgres: number; readonly client: number };

/** Shares of the whole machine, 0 to 1. */
export type CpuShares = { readonly catalog: number; readonly postgres: number; readonly client: number };

/** Measures the CPU use of the catalog, its Postgres, and this process, which is the client. */
export class Processes {
  readonly #catalog: number;
  readonly #postgres: number;

  private constructor(catalog: number, postgres: number) {
    this.#catalog = catalog;
    this.#postgres = postgres;
  }

  static async of(cluster: Cluster): Promise<Processes> {
    const { services } = JSON.parse(await cluster.cliOk(['status', '--json'])) as { services: readonly Service[] };
    const pid = (kind: string): number =>
      must(
        services.find((service) => service.kind === kind),
        kind,
      ).pid;
    return new Processes(pid('catalog'), pid('postgres'));
  }

  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly cpu: CpuShares }> {
    const before = await this.#usage();
    const result = await work();
    const after = await this.#usage();
    const seconds = ((after.atMs - before.atMs) / 1_000) * availableParallelism();
    const share = (who: keyof CpuShares): number => (after[who] - before[who]) / seconds;
    return { result, cpu: { catalog: share('catalog'), postgres: share('postgres'), client: share('client') } };
  }

  /** Resident memory of the catalog, in bytes. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#catalog}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
  }

  async #usage(): Promise<Usage> {
    const { user, system } = process.cpuUsage();
    const all = await processTable();
    return {
      atMs: performance.now(),
      client: (user + system) / 1e6,
      catalog: treeSeconds(all, this.#catalog),
      postgres: treeSeconds(all, this.#postgres),
    };
  }
}

type Entry = { readonly parent: number; readonly seconds: number };

async function processTable(): Promise<ReadonlyMap<number, Entry>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(
    pids.map(async (pid): Promise<readonly [number, Entry] | undefined> => {
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
function treeSeconds(all: ReadonlyMap<number, Entry>, root: number): number {
  let seconds = all.get(root)?.seconds ?? 0;
  for (const [pid, { parent }] of all) if (parent === root) seconds += treeSeconds(all, pid);
  return seconds;
}

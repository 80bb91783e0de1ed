import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { processTable, servicesOf, treeSeconds } from '../report/process-cpu.ts';

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
    const services = await servicesOf(cluster);
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

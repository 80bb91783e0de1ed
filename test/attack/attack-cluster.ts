import { readdir, readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { findCluster } from '#cli/cluster-file.ts';
import { createOtherTenant } from '#test/support/other-tenant.ts';
import { projectRoot, type StartedCluster } from '#test/support/cluster.ts';
import type { AttackCounts, AttackerOptions } from './attackers.ts';

/** A tenant beside the one that is attacked. */
type Attackers = { stop(): Promise<AttackCounts> };

const TENANT = 'rival';
const USER = 'rival_admin';
const STOP_TIMEOUT_MS = 90_000;

/** What processes of the cluster hold, by their names. */
export type Held = {
  readonly pid: number;
  readonly residentBytes: number;
  /** Planners of the coordinator, backends of Postgres. */
  readonly childrenBytes: number;
  readonly handles: number;
};

/** A cluster in which one tenant may be attacked by another. */
export class AttackCluster {
  readonly cluster: StartedCluster;
  readonly #token: string;
  readonly #catalog: string;

  private constructor(cluster: StartedCluster, token: string, catalog: string) {
    this.cluster = cluster;
    this.#token = token;
    this.#catalog = catalog;
  }

  /** Loads TPC-H for the one, and makes the other. */
  static async prepare(cluster: StartedCluster): Promise<AttackCluster> {
    await cluster.load(['tpch', '--scale', '0.01']);
    const file = `${projectRoot}/cli/load/tpch-0.01/region.parquet`;
    const { other_catalog: catalog } = await createOtherTenant(cluster, file);
    return new AttackCluster(cluster, await cluster.token({ tenant: TENANT, user: USER }), catalog);
  }

  /** Lets so many loose, in a thread of their own. */
  attack(kind: AttackerOptions['kind'], seed: number, attackers: number): Attackers {
    const { services, catalog_internal_url: internal } = findCluster(this.cluster.dataDir).services;
    const urls = services.flatMap(({ kind: service, url, metrics_url: metrics }) =>
      service === 'postgres' ? [] : [url, metrics],
    );
    const hosts = urls.filter((url) => url !== null && url !== undefined).map((url) => new URL(url).host);
    const options: AttackerOptions = {
      kind,
      seed,
      attackers,
      queryUrl: this.cluster.queryUrl,
      catalogUrl: this.cluster.catalogUrl,
      token: this.#token,
      catalog: this.#catalog,
      ports: [internal, ...hosts],
    };
    const thread = new Worker(new URL('attackers.ts', import.meta.url), { workerData: options });
    const failed = new Promise<never>((_, reject) => thread.once('error', reject));
    failed.catch(() => undefined);
    return {
      stop: async () => {
        const counts = new Promise<AttackCounts>((resolve) => thread.once('message', resolve));
        thread.postMessage('stop', []);
        const late = AbortSignal.timeout(STOP_TIMEOUT_MS);
        const isLate = new Promise<never>((_, reject) => {
          late.addEventListener('abort', () => reject(new Error('the attackers do not stop')), { once: true });
        });
        try {
          return await Promise.race([counts, failed, isLate]);
        } finally {
          await thread.terminate();
        }
      },
    };
  }

  /** What each service holds. */
  async held(): Promise<ReadonlyMap<string, Held>> {
    const { services } = findCluster(this.cluster.dataDir).services;
    const children = await childrenByParent();
    const held = new Map<string, Held>();
    for (const { name, pid } of services) {
      const own = await heldBy(pid);
      const others = await Promise.all(descendants(pid, children).map(heldBy));
      const childrenBytes = others.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
      held.set(name, { pid, ...own, childrenBytes });
    }
    return held;
  }
}

async function heldBy(pid: number): Promise<Pick<Held, 'residentBytes' | 'handles'>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  // Pages that several processes share, as those of Postgres, count once at most.
  const own = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => []);
  return { residentBytes: Number(own ?? 0) * 1024, handles: handles.length };
}

async function childrenByParent(): Promise<ReadonlyMap<number, readonly number[]>> {
  const children = new Map<number, number[]>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  return children;
}

const descendants = (pid: number, children: ReadonlyMap<number, readonly number[]>): readonly number[] =>
  (children.get(pid) ?? []).flatMap((child) => [child, ...descendants(child, children)]);

import { readdir, readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { findCluster } from '#cli/cluster-file.ts';
import { AdminClients } from '#test/support/admin-clients.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { createRival, RIVAL_CATALOG, RIVAL_TENANT } from '#test/support/hostile-table.ts';
import type { AttackCounts, AttackerOptions } from './attackers.ts';

/** Attackers at work; `stop` ends them. */
type Attackers = { stop(): Promise<AttackCounts> };

/**
 * Service accounts of the attackers' tenant with the scopes of their tokens: one with all scopes, one that reads, one with almost none.
 */
const CLIENTS = { writer: undefined, reader: 'namespace:read table:read', nobody: 'catalog:read' } as const;
/** The attackers' table for commits. */
const TARGET_TABLE = 'target';
const STOP_TIMEOUT_MS = 90_000;

/** Memory and handles of a service's process. */
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
  /** Tokens of the attackers' principals, the tenant's administrator first. */
  readonly #tokens: readonly string[];

  private constructor(cluster: StartedCluster, tokens: readonly string[]) {
    this.cluster = cluster;
    this.#tokens = tokens;
  }

  /** Loads TPC-H for the tenant that is attacked, and creates the attackers' tenant. */
  static async prepare(cluster: StartedCluster): Promise<AttackCluster> {
    await cluster.load(['tpch', '--scale', '0.01']);
    const { token, post } = await createRival(cluster);
    await post('/namespaces/default/tables', { name: TARGET_TABLE, schema: SCHEMA });
    const clients = new AdminClients(cluster);
    const tokens = [token];
    for (const [name, scope] of Object.entries(CLIENTS)) {
      const flags = ['--tenant', RIVAL_TENANT, ...(scope === undefined ? [] : ['--scope', scope])];
      tokens.push(await clients.tokenOf(await clients.admin('create', name, ...flags)));
    }
    return new AttackCluster(cluster, tokens);
  }

  /** Starts `attackers` attackers in a thread of their own. */
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
      tokens: this.#tokens,
      catalog: RIVAL_CATALOG,
      table: TARGET_TABLE,
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

  /** Memory and handles of each service, by its name. */
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
  // Only anonymous memory counts, because processes such as those of Postgres share other pages.
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

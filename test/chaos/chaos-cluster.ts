import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { must } from '#shared/must.ts';
import { ALL_ROLES, TestCertificates } from '#test/support/certificates.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { startEtcd } from '#test/support/etcd.ts';
import { startTestPostgres } from '#test/support/postgres.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { WorkerNetwork } from '#test/support/network-namespaces.ts';
import { NamespacedWorker, readPage, WORKER_ENVIRONMENT } from '#test/support/namespaced-worker.ts';

/** A worker that can be hurt, and how. */
export type Victim = {
  readonly name: string;
  /** Id of the process that runs now. */
  pid(): Promise<number | undefined>;
  /** Cuts its network, or restores it. */
  readonly unplug: (lost: boolean) => Promise<void>;
  /** Ends its connections; undefined where only the whole network can be lost. */
  readonly dropConnections: (() => void) | undefined;
  readonly delay: ((ms: number) => void) | undefined;
  /** Its `/metrics`, as text; undefined while it does not answer. */
  metrics(): Promise<string | undefined>;
};

/** Workers of `skein up`, behind proxies. */
const LAUNCHED = 2;
const WORKERS_OFFSET = 10;
/** The end of a statement, as history has it. */
export type Recorded = { readonly status: string; readonly error_code: string | null };

/**
 * A cluster whose members find each other through etcd, over mutual TLS: two workers of the launcher, each behind a proxy, and, where the
 * machine lets us make network namespaces, one more in a network of its own.
 */
export class ChaosCluster implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly victims: readonly Victim[];
  readonly #stack: AsyncDisposableStack;
  readonly #database: Client;

  private constructor(cluster: Cluster, victims: readonly Victim[], database: Client, stack: AsyncDisposableStack) {
    this.cluster = cluster;
    this.victims = victims;
    this.#database = database;
    this.#stack = stack;
  }

  static async start(): Promise<ChaosCluster> {
    await using stack = new AsyncDisposableStack();
    const dataDir = await mkdtemp(join(tmpdir(), 'skein-chaos-'));
    stack.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));
    const network = await WorkerNetwork.create();
    if (network !== null) stack.use(network);
    const host = network?.hostAddress ?? '127.0.0.2';
    const postgres = stack.use(await startTestPostgres());
    const certificates = stack.use(await TestCertificates.make());
    const tls = await certificates.issue('cluster', ALL_ROLES);
    const server = await certificates.issue('etcd', ['etcd'], ['127.0.0.1', host]);
    const listenHost = network === null ? '127.0.0.1' : '0.0.0.0';
    const etcd = stack.use(await startEtcd({ listenHost, tls: { server, client: tls } }));
    const base = await freePorts(WORKERS_OFFSET + LAUNCHED);
    const proxies: TcpProxy[] = [];
    for (let i = 0; i < LAUNCHED; i++) {
      const port = base + WORKERS_OFFSET + i;
      proxies.push(stack.use(await TcpProxy.listen({ host, port }, { host: '127.0.0.1', port })));
    }
    const cluster = await startCluster({
      dataDir,
      tls,
      workers: LAUNCHED,
      args: ['--port-base', String(base)],
      env: {
        ...WORKER_ENVIRONMENT,
        DATABASE_URL: postgres.url,
        ETCD_ENDPOINTS: etcd.endpoint,
        SKEIN_HOST: '0.0.0.0',
        SKEIN_CLUSTER_ADVERTISE_HOST: host,
      },
    });
    stack.defer(async () => void (await cluster.stop()));
    const victims = proxies.map((proxy, i) => launchedVictim(cluster, `worker-${i + 1}`, proxy));
    if (network !== null) {
      const far = await certificates.issue('far-1', ['worker']);
      const worker = stack.use(new NamespacedWorker('far-1', await network.add(), { etcd, host, dataDir, tls: far }));
      await worker.start();
      victims.push(namespacedVictim(worker));
    }
    const database = new Client({ connectionString: postgres.url });
    await database.connect();
    stack.defer(() => database.end());
    return new ChaosCluster(cluster, victims, database, stack.move());
  }

  /** The record of a statement that has ended. History is written after the client has its answer, so this waits for it. */
  async recorded(queryId: string): Promise<Recorded | undefined> {
    const query =
      'select status, error_code from coordinator.query_history where query_id = $1 and ended_at is not null';
    const end = performance.now() + RECORD_TIMEOUT_MS;
    for (;;) {
      const { rows } = await this.#database.query<Recorded>(query, [queryId]);
      if (rows[0] !== undefined || performance.now() > end) return rows[0];
      await sleep(100);
    }
  }

  /** The coordinator's log of a statement, cut to a few lines: an answer that should not be is rarely given twice. */
  async logged(queryId: string): Promise<string> {
    const log = await readFile(join(this.cluster.dataDir, 'logs', 'coordinator.log'), 'utf8');
    return log
      .split('\n')
      .filter((line) => line.includes(queryId))
      .join('\n')
      .slice(0, LOGGED_CHARACTERS_MAX);
  }

  /** Tasks that the coordinator has run again so far. */
  async retries(): Promise<number> {
    const page = await readPage(`${this.cluster.queryUrl}/metrics`);
    return gaugeOf(must(page, 'the coordinator answers'), 'skein_task_retries_total');
  }

  /** Lists what the workers still hold and what history still calls open although no query runs: `name: what`. */
  async leaks(): Promise<readonly string[]> {
    const open = 'select query_id, status from coordinator.query_history where ended_at is null';
    const { rows } = await this.#database.query<{ query_id: string; status: string }>(open);
    const found = rows.map(({ query_id, status }) => `history: ${query_id} is ${status}`);
    for (const victim of this.victims) {
      const page = await victim.metrics();
      if (page === undefined) found.push(`${victim.name}: does not answer`);
      else
        found.push(
          ...LEAK_GAUGES.filter((gauge) => gaugeOf(page, gauge) !== 0).map(
            (gauge) => `${victim.name}: ${gauge} ${gaugeOf(page, gauge)}`,
          ),
        );
    }
    const spill = await readdir(join(this.cluster.dataDir, 'spill'), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    found.push(...spill.filter((entry) => entry.isFile()).map((entry) => `file ${entry.parentPath}/${entry.name}`));
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const namespacedVictim = (worker: NamespacedWorker): Victim => ({
  name: worker.name,
  pid: () => Promise.resolve(worker.pid),
  unplug: (lost) => worker.member.plug(!lost),
  dropConnections: undefined,
  delay: undefined,
  metrics: () => worker.metrics(),
});

const RECORD_TIMEOUT_MS = 5_000;
const LOGGED_CHARACTERS_MAX = 4_000;
const LEAK_GAUGES = ['skein_worker_tasks_running', 'skein_worker_spool_bytes'] as const;

function gaugeOf(page: string, gauge: string): number {
  return Number(must(new RegExp(`^${gauge}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page)?.[1], `the gauge ${gauge}`));
}

function launchedVictim(cluster: Cluster, name: string, proxy: TcpProxy): Victim {
  return {
    name,
    pid: async () => (await cluster.services()).find((one) => one.name === name)?.pid,
    unplug: (lost) => Promise.resolve(proxy.hold(lost)),
    dropConnections: () => proxy.drop(),
    delay: (ms) => proxy.delay(ms),
    metrics: async () => {
      const file = await readFile(join(cluster.dataDir, 'services.json'), 'utf8');
      const { services: records } = JSON.parse(file) as { services: readonly { name: string; metrics_url?: string }[] };
      const url = records.find((record) => record.name === name)?.metrics_url;
      return url === undefined ? undefined : readPage(url);
    },
  };
}

/** The first of so many ports in a row that are free on the loopback. */
async function freePorts(count: number): Promise<number> {
  for (let base = 21_000; base < 60_000; base += 100) {
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(base + i)));
    if (free.every(Boolean)) return base;
  }
  throw new Error('no free ports');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '0.0.0.0', () => resolve(true));
  });
  const free = await listening;
  if (free) await new Promise((closed) => server.close(closed));
  return free;
}

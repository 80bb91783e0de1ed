import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TcpProxy } from '#test/chaos/tcp-proxy.ts';
import { startCatalogProcess } from './catalog-process.ts';
import { startTestCatalog, TEST_SECRET, type TestCatalog } from './catalog.ts';
import { startCoordinatorProcess } from './coordinator-process.ts';
import { createTestDatabase } from './resources.ts';
import { startWorkerProcess, workerSettings } from './worker-process.ts';

/** A coordinator with a catalog of its own, and the wire between them, which a test may hold, delay or cut. */
export type Pair = { readonly queryUrl: string; readonly catalogUrl: string; readonly wire: TcpProxy };
export type CatalogProcess = Awaited<ReturnType<typeof startCatalogProcess>>;
type Pairs = AsyncDisposable & {
  readonly catalog: TestCatalog;
  readonly second: CatalogProcess;
  readonly pairs: readonly [Pair, Pair];
};

/** Two coordinators, each with a catalog, a database and a worker of its own; the catalogs share theirs. */
export async function startPairs(leaseMs: number): Promise<Pairs> {
  const stack = new AsyncDisposableStack();
  try {
    const catalog = stack.use(await startTestCatalog({ 'catalog.cache_lease': leaseMs }));
    const folder = await mkdtemp(join(tmpdir(), 'skein-pairs-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const second = stack.adopt(await startCatalogProcess(catalog.config), (process) => process.kill());
    const one = await startPair(stack, { number: 0, at: catalog.running, folder });
    const other = await startPair(stack, { number: 1, at: second, folder });
    const parts = stack.move();
    return { catalog, second, pairs: [one, other], [Symbol.asyncDispose]: () => parts.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

type PairPlace = {
  readonly number: number;
  readonly at: { readonly url: string; readonly internalAddress: string };
  readonly folder: string;
};

async function startPair(stack: AsyncDisposableStack, { number, at, folder }: PairPlace): Promise<Pair> {
  const [host = '', port = ''] = at.internalAddress.split(':');
  const wire = stack.use(await TcpProxy.listen({ host, port: 0 }, { host, port: Number(port) }));
  const common = { 'cluster.secret': TEST_SECRET, log_level: 'silent' };
  const worker = stack.use(
    await startWorkerProcess({ ...workerSettings(folder, `worker-${number}`), ...common, 'worker.cores': '1' }),
  );
  // One of two coordinators on one database leads, and the other's writes are refused.
  const database = stack.use(await createTestDatabase());
  const coordinator = stack.use(
    await startCoordinatorProcess({
      ...common,
      data_dir: join(folder, `coordinator-${number}`),
      'database.url': database.url,
      'catalog.url': at.url,
      'catalog.internal_url': `${host}:${wire.port}`,
      'cluster.workers': worker.at.url,
      'planner.processes': '1',
    }),
  );
  return { queryUrl: coordinator.url, catalogUrl: at.url, wire };
}

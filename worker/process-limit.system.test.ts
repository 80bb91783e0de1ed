import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startWorker } from './main.ts';
import { dataBytes } from './process-limit.ts';
import { makeTask, TestCoordinator } from '#test/support/worker-client.ts';
import { patience } from '#test/support/run/slowness.ts';

const SECRET = 'secret-of-the-cluster';
const MEMORY_BYTES = 2 ** 28;
const HEADROOM_BYTES = 2 ** 29;

// A test file of its own: if `@duckdb/node-api` loads DuckDB before the worker does, its allocator keeps the addresses of freed memory.
test.runIf(process.platform === 'linux')(
  'text that no limit of DuckDB counts ends its query, and not the process, which has its memory back',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    const config = defaultConfig({
      data_dir: dataDir,
      'cluster.secret': SECRET,
      'worker.port': 0,
      'worker.cores': 1,
      // A spare thread would count as memory that was not returned.
      'worker.spare_slots_max': 0,
      'worker.memory_limit': MEMORY_BYTES,
      'worker.process_headroom': HEADROOM_BYTES,
      'worker.orphan_timeout': 60_000,
    });
    const worker = await startWorker(config, silentLogger);
    const coordinator = new TestCoordinator(worker.url, SECRET);
    const rows = async (sql: string): Promise<number> => (await coordinator.run(makeTask(sql))).table.numRows;
    try {
      expect(await rows('SELECT i FROM range(1000000) t(i)')).toBe(1_000_000);
      const before = dataBytes();
      for (let i = 0; i < 3; i++) {
        const bomb = rows("SELECT sum(length(repeat('x' || i, 10000000))) FROM range(3000) t(i)");
        // The watch over the process stops it, or an allocation fails before the watch looks.
        await expect(bomb).rejects.toMatchObject({
          code: expect.stringMatching(/^MEMORY_(KILLED|EXHAUSTED)$/) as string,
        });
        // The client is answered before the cancelled quantum has ended.
        await expect.poll(() => dataBytes() - before, { timeout: patience(10_000) }).toBeLessThan(HEADROOM_BYTES / 2);
        expect(await rows('SELECT i FROM range(1000000) t(i)')).toBe(1_000_000);
      }
    } finally {
      coordinator.close();
      await worker.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { residentBytes, startWorkerProcess, workerSettings, type WorkerProcess } from '#test/support/worker-process.ts';
import { makeTask } from '../support/worker-client.ts';

/** Memory of a worker's process, as the system counts it. */

const SECRET = 'worker-memory';
const MIB = 2 ** 20;
/** DuckDB's own limit, and the memory that the process may use beyond it. */
const [LIMIT_BYTES, HEADROOM_BYTES] = [512 * MIB, 768 * MIB];

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skein-memory-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const start = (name: string, settings: object = {}): Promise<WorkerProcess> =>
  startWorkerProcess({
    ...workerSettings(dataDir, name),
    'cluster.secret': SECRET,
    'worker.cores': '1',
    'worker.orphan_timeout': '600s',
    'worker.memory_limit': `${LIMIT_BYTES}`,
    'worker.process_headroom': `${HEADROOM_BYTES}`,
    // On a busy machine a quantum may take long, which this test does not measure.
    'worker.quantum_max': '120s',
    'worker.quantum_overrun': '60s',
    ...settings,
  });

async function codeOf(worker: WorkerProcess, sql: string): Promise<string> {
  try {
    await worker.at.run(makeTask(sql, { memoryLimitBytes: LIMIT_BYTES }));
    return 'answered';
  } catch (error) {
    return SkeinError.of(error).code;
  }
}

/** Resident memory when it has not changed for two seconds: a thread that is still starting would count as memory that a query keeps. */
async function settledBytes({ pid }: WorkerProcess): Promise<number> {
  const last: number[] = [];
  do {
    last.push(residentBytes(pid));
    await sleep(250);
  } while (last.length < 8 || Math.max(...last.slice(-8)) - Math.min(...last.slice(-8)) > 2 * MIB);
  return last.at(-1) ?? 0;
}

/** Records the peak of the process's resident memory until it is disposed. */
function watchPeak({ pid }: WorkerProcess, resident: { peak: number }): Disposable {
  const timer = setInterval(() => (resident.peak = Math.max(resident.peak, residentBytes(pid))), 10);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Statements in which a vector, a list, a text or a sort takes more than the process may have, before DuckDB counts it. */
const BOMBS = [
  "SELECT sum(length(repeat('x' || i, 10000000))) FROM range(3000) t(i)",
  "SELECT sum(length(repeat('x' || i, 100000))) FROM range(30000) t(i)",
  "SELECT length(list(repeat('x', 1000) || i)) FROM range(3000000) t(i)",
  "SELECT length(string_agg(repeat('x', 1000), '')) FROM range(3000000) t(i)",
  'SELECT list_sort(range(200000000 + i))[1] FROM range(1) t(i)',
  "SELECT length(array_to_string(list_transform(range(10000000 + i), x -> repeat('y', 100)), '')) FROM range(1) t(i)",
];

/** One slot's thread may take this much of the limit of the process (`process-limit.ts`). */
const THREAD_BYTES = 256 * MIB;

test.runIf(process.platform === 'linux')(
  'a query that would take more than the process may use ends by name, and nobody else does; its memory comes back',
  async () => {
    await using worker = await start('bombs');
    const resident = { idle: 0, peak: 0 };
    await worker.at.run(makeTask('SELECT 1'));
    resident.idle = residentBytes(worker.pid);
    using _watch = watchPeak(worker, resident);
    const stop = new AbortController();
    const others = (async () => {
      const codes = new Set<string>();
      while (!stop.signal.aborted) {
        codes.add(await codeOf(worker, 'SELECT sum(i) FROM range(1000) t(i)'));
        await sleep(20);
      }
      return [...codes];
    })();
    const codes = [];
    for (const bomb of BOMBS) codes.push(await codeOf(worker, bomb));
    stop.abort();
    expect(codes.filter((code) => !['MEMORY_KILLED', 'MEMORY_EXHAUSTED', 'OUT_OF_MEMORY'].includes(code))).toEqual([]);
    expect(codes).toContain('MEMORY_KILLED');
    expect(await others).toEqual(['answered']);
    expect(resident.peak).toBeLessThan(LIMIT_BYTES + HEADROOM_BYTES + THREAD_BYTES);
    await expect
      .poll(() => residentBytes(worker.pid), { timeout: 10_000, interval: 250 })
      .toBeLessThan(resident.idle + 128 * MIB);
  },
  120_000,
);

test.runIf(process.platform === 'linux')(
  'what idle instances keep is given back within ten seconds of the last query, but for a part with a limit',
  async () => {
    const keptMax = 16 * MIB;
    await using worker = await start('idle', { 'worker.instances_idle_memory': `${keptMax}` });
    await worker.at.run(makeTask('SELECT 1'));
    const beforeBytes = await settledBytes(worker);
    for (const sql of [
      'SELECT count(*) FROM (SELECT i, count(*) AS c FROM range(9000000) t(i) GROUP BY i)',
      "SELECT max(s) FROM (SELECT 'a text of some length ' || i AS s FROM range(4500000) t(i) ORDER BY hash(i) LIMIT 4400000)",
    ]) {
      expect(await codeOf(worker, sql)).toBe('answered');
    }
    expect(residentBytes(worker.pid) - beforeBytes).toBeGreaterThan(100 * MIB);
    await expect
      .poll(() => residentBytes(worker.pid) - beforeBytes, { timeout: 10_000, interval: 250 })
      .toBeLessThan(keptMax + 48 * MIB);
    expect(await codeOf(worker, 'SELECT 1')).toBe('answered');
  },
  120_000,
);

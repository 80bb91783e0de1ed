import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputSource, OutputSpec, TaskSpec } from '#shared/task/task.ts';
import { queryId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { cpuMs, startWorkerProcess, workerSettings, type WorkerProcess } from '#test/support/worker-process.ts';
import { allocateBlock, copyMemory, freeBlock } from '#worker/duckdb/memory.ts';
import { makeTask } from '#test/support/worker-client.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

const SECRET = 'bench-exchange';
const ROWS_PER_SCALE = 5_000_000;
const PARTITIONS = 4;
const COPY_BLOCK_BYTES = 2 * 2 ** 20;

/** Column sets of the measured rows. */
const SHAPES = {
  'no strings': {
    select: "i AS k, (i % 1000000)::DECIMAL(15, 2) AS d, DATE '1992-01-01' + (i % 2500)::INTEGER AS t",
    columns: { k: 'BIGINT', d: 'DECIMAL(15,2)', t: 'DATE' },
    read: 'max(k), max(d), max(t)',
  },
  strings: {
    select:
      "i AS k, (i % 1000000)::DECIMAL(15, 2) AS d, DATE '1992-01-01' + (i % 2500)::INTEGER AS t, 'about forty-five bytes of a comment, no. ' || i % 100000 AS s",
    columns: { k: 'BIGINT', d: 'DECIMAL(15,2)', t: 'DATE', s: 'VARCHAR' },
    read: 'max(k), max(d), max(t), max(length(s))',
  },
} as const;
type Shape = keyof typeof SHAPES;

/** One figure: the median over all runs. `cores` is the time on all cores. */
type Figure = {
  readonly shape: Shape | 'bytes';
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly wallMs: number;
  readonly coreMs: number;
};
type Own = Pick<TaskSpec, 'queryId'>;

/**
 * Measures two worker processes of one core each: rows into partitions, and partitions into tasks of the same worker (by reference) and of
 * the other (over a socket). For comparison it measures the query that makes the rows, and a plain copy of as many bytes.
 */
export async function benchExchange(options: { readonly scale: string; readonly runs: number }): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skein-bench-exchange-'));
  const settings = (name: string) => ({
    ...workerSettings(dataDir, name),
    'cluster.secret': SECRET,
    'worker.cores': '1',
    'worker.memory_limit': '4GiB',
    'worker.spool_memory_limit': '2GiB',
    'worker.orphan_timeout': '3600s',
  });
  try {
    await using a = await startWorkerProcess(settings('a'));
    await using b = await startWorkerProcess(settings('b'));
    const rows = Math.round(ROWS_PER_SCALE * Number(options.scale));
    const runs: Figure[][] = [];
    for (let run = 0; run <= options.runs; run++) {
      const figures = await measure(a, b, rows);
      // The first run warms the workers.
      if (run > 0) runs.push(figures);
      process.stderr.write('.');
    }
    process.stderr.write('\n');
    await report(options.scale, medians(runs));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(a: WorkerProcess, b: WorkerProcess, rows: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const shape of Object.keys(SHAPES) as Shape[]) {
    const of = shapeTasks(shape, rows);
    const add = async (name: string, bytes: number, work: () => Promise<unknown>): Promise<void> => {
      const startCores = cpuMs(a.pid) + cpuMs(b.pid);
      const startMs = performance.now();
      await work();
      const wallMs = performance.now() - startMs;
      figures.push({ shape, name, rows, bytes, wallMs, coreMs: cpuMs(a.pid) + cpuMs(b.pid) - startCores });
    };
    const own = { queryId: queryId(randomUUID()) };
    const whole = of.make(own, 1);
    const divided = [0, 1].map((half) => of.make(own, PARTITIONS, half));
    await add('the query alone', 0, () => a.at.run(of.query));
    const { outputBytes: bytes } = await a.at.report(whole);
    await a.at.call('CancelTask', { task_id: whole.taskId });
    const kept = of.make(own, 1);
    await add('into one partition', bytes, () => a.at.report(kept));
    await add(`into ${PARTITIONS} partitions by hash, both workers`, bytes, () =>
      Promise.all(divided.map((spec, i) => (i === 0 ? a : b).at.report(spec))),
    );
    const source = [a.at.source(kept, 0)];
    await add('gather, in process', bytes, () => a.at.run(of.read(own, source)));
    await add('gather, over a socket', bytes, () => b.at.run(of.read(own, source)));
    await add('broadcast to both', bytes * 2, () =>
      Promise.all([a, b].map((worker) => worker.at.run(of.read(own, source)))),
    );
    await add('hash exchange, half over sockets', bytes, () =>
      Promise.all(
        Array.from({ length: PARTITIONS }, (_, partition) => {
          const sources = divided.map((spec, i) => (i === 0 ? a : b).at.source(spec, partition));
          return (partition % 2 === 0 ? a : b).at.run(of.read(own, sources));
        }),
      ),
    );
    await Promise.all([a, b].map((worker) => worker.at.endQuery(kept)));
    figures.push(copied(shape, rows, bytes));
  }
  return figures;
}

/** The tasks over rows of one shape. */
function shapeTasks(shape: Shape, rows: number) {
  const { select, columns, read } = SHAPES[shape];
  const limits = { memoryLimitBytes: 2 ** 30 };
  const spooled = (partitions: number): OutputSpec => ({ kind: 'spool', partitions });
  return {
    query: makeTask(`SELECT ${read} FROM (SELECT ${select} FROM range(${rows}) t(i))`, limits),
    /** All rows, or a half of them with their partition. */
    make: (own: Own, partitions: number, half?: number): TaskSpec => {
      const from = half === undefined ? `0, ${rows}` : `${(half * rows) / 2}, ${((half + 1) * rows) / 2}`;
      const partition = partitions === 1 ? '' : `, hash(i) % ${partitions} AS p`;
      return makeTask(`SELECT ${select}${partition} FROM range(${from}) t(i)`, {
        ...own,
        ...limits,
        output: spooled(partitions),
      });
    },
    read: (own: Own, sources: readonly InputSource[]): TaskSpec =>
      makeTask([`SELECT ${read} FROM `, { input: 0 }, ' AS t'], {
        ...own,
        ...limits,
        inputs: [{ columns: Object.entries(columns).map(([name, type]) => ({ name, type })), sources, reads: 1 }],
      }),
  };
}

/** A plain copy of as many bytes, in this process, from one block to fresh others as an exchange does it. */
function copied(shape: Shape, rows: number, bytes: number): Figure {
  const from = allocateBlock(COPY_BLOCK_BYTES);
  const startMs = performance.now();
  const startCores = process.cpuUsage();
  for (let left = bytes; left > 0; left -= COPY_BLOCK_BYTES) {
    const to = allocateBlock(COPY_BLOCK_BYTES);
    copyMemory(to, from, COPY_BLOCK_BYTES);
    freeBlock(to);
  }
  const { user, system } = process.cpuUsage(startCores);
  freeBlock(from);
  const wallMs = performance.now() - startMs;
  return { shape, name: 'a plain copy of the bytes', rows, bytes, wallMs, coreMs: (user + system) / 1_000 };
}

function medians(runs: readonly (readonly Figure[])[]): Figure[] {
  return must(runs[0], 'a run').map((figure, i) => {
    const same = runs.map((run) => must(run[i], 'every run has the same figures'));
    return {
      ...figure,
      wallMs: median(same.map(({ wallMs }) => wallMs)),
      coreMs: median(same.map(({ coreMs }) => coreMs)),
    };
  });
}

const perSecond = (amount: number, ms: number): number => (ms === 0 ? 0 : amount / (ms / 1_000));

async function report(scale: string, figures: readonly Figure[]): Promise<void> {
  const rows = figures.map(({ shape, name, rows: count, bytes, wallMs, coreMs }) => [
    `${shape}: ${name}`,
    wallMs.toFixed(0),
    coreMs.toFixed(0),
    (bytes / 1e6).toFixed(0),
    bytes === 0 ? '' : (perSecond(bytes, wallMs) / 1e9).toFixed(2),
    bytes === 0 ? '' : (perSecond(bytes, coreMs) / 1e9).toFixed(2),
    (perSecond(count, coreMs) / 1e6).toFixed(1),
  ]);
  const table = printTable(['', 'ms', 'core ms', 'MB', 'GB/s', 'GB/s per core', 'M rows/s per core'], rows);
  await writeResult('exchange', {
    table,
    figures: { scale, figures },
    chart: {
      title: 'Exchanges: gigabytes per second of one core',
      unit: 'GB/s',
      labels: figures.filter(({ bytes }) => bytes > 0).map(({ shape, name }) => `${shape}: ${name}`),
      series: [
        {
          name: 'per core',
          color: '#2563eb',
          values: figures.filter(({ bytes }) => bytes > 0).map(({ bytes, coreMs }) => perSecond(bytes, coreMs) / 1e9),
        },
      ],
    },
  });
}

import { expect, test } from 'vitest';
import { TASK_MEMORY_BYTES_MIN } from '#shared/task/task.ts';
import { MemoryLedger } from '../workload/memory-ledger.ts';
import { NARROW_MEMORY_BYTES } from './choose-width.ts';
import { taskMemory } from './task-memory.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

type Case = {
  readonly plan?: object | null;
  readonly width?: number | 'worker';
  readonly limitBytes?: number;
  /** Memory that the query is granted on all workers. */
  readonly grantedBytes?: number;
  readonly threads?: number;
  readonly bytes?: number;
};

/** The limit of a task on one of three workers with 1 GiB and four cores each. */
const limitOf = ({ plan = {}, width = 1, threads = 4, bytes = GIB, ...given }: Case): number => {
  const stage = { fragment: { plan, width }, memoryBytes: undefined } as unknown as Parameters<typeof taskMemory>[0];
  const owner = {
    memoryLimitBytes: given.limitBytes ?? 8 * GIB,
    growMemory: (wanted: number) => Math.min(wanted, given.grantedBytes ?? Number.POSITIVE_INFINITY),
  };
  const worker = { memoryLimitBytes: GIB } as Parameters<typeof taskMemory>[2]['worker'];
  return taskMemory(stage, owner, { workers: 3, worker, room: { tasks: 1, cores: 4, taskCores: 4 }, threads, bytes });
};

test('a task gets its share of what the query was granted, in steps', () => {
  expect(limitOf({})).toBe(GIB);
  expect(limitOf({ threads: 2 })).toBe(GIB / 2);
  expect(limitOf({ bytes: MIB })).toBe(NARROW_MEMORY_BYTES);
  expect(limitOf({ grantedBytes: 2 * GIB })).toBe(GIB / 2);
  expect(limitOf({ plan: null, width: 'worker', grantedBytes: 700 * MIB })).toBe(GIB / 2);
  expect(limitOf({ plan: null, width: 'worker', grantedBytes: 800 * MIB })).toBe(GIB * 0.75);
  expect(limitOf({ plan: null, width: 'worker', grantedBytes: 384 * MIB })).toBe(384 * MIB);
  expect(limitOf({ plan: null })).toBe(NARROW_MEMORY_BYTES);
});

test('a query that was granted no more than it reserved at admission runs with the least that DuckDB can spill with', () => {
  // Two of three workers were lost while another query held the memory of all: the ledger has nothing to give.
  const ledger = new MemoryLedger({
    reservations: { interactive: 256e6, medium: 512e6, batch: 1e9 },
    interactiveShare: 0.25,
  });
  ledger.resize(3 * GIB);
  const reserved = ledger.reservation('interactive', GIB);
  const other = { workClass: 'medium', bytes: 0, kept: 0 } as const;
  ledger.take(other, 3 * GIB - reserved);
  const hold = { workClass: 'interactive', bytes: 0, kept: 0 } as const;
  ledger.take(hold, reserved);
  ledger.resize(GIB);
  const grantedBytes = ledger.grow(hold, 3 * GIB, false);
  expect(grantedBytes).toBe(reserved);
  expect(reserved).toBeLessThan(50 * MIB);
  for (const bytes of [MIB, GIB]) {
    for (const threads of [1, 4]) expect(limitOf({ grantedBytes, bytes, threads })).toBe(TASK_MEMORY_BYTES_MIN);
  }
  for (const width of [1, 'worker'] as const) {
    expect(limitOf({ plan: null, width, grantedBytes })).toBe(TASK_MEMORY_BYTES_MIN);
  }
});

test('the limit of the session holds for the tasks of a worker together', () => {
  expect(limitOf({ limitBytes: 32 * MIB, grantedBytes: MIB })).toBe(32 * MIB);
  expect(limitOf({ limitBytes: 32 * MIB, grantedBytes: MIB, plan: null })).toBe(32 * MIB);
  expect(limitOf({ limitBytes: 256 * MIB, grantedBytes: MIB, threads: 1 })).toBe(64 * MIB);
});

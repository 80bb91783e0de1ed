import { expect, test } from 'vitest';
import type { InputSource, SentTask } from '#shared/task/task.ts';
import { queryId, taskId } from '#shared/id.ts';
import type { BatchRange, SpooledOutput } from '../spool/spooled-output.ts';
import { collectInputs, type InputPlaces } from './collect-inputs.ts';

/** An output of one partition whose batches have so many rows each. */
const outputOf = (rows: readonly number[]): SpooledOutput =>
  ({
    prologue: [Buffer.from('schema')],
    select: (_partition: number, { start, end }: BatchRange) => rows.slice(start, end).map((one) => ({ rows: one })),
    release: () => Promise.resolve(),
  }) as unknown as SpooledOutput;

const SOURCE: InputSource = {
  address: 'here',
  taskId: taskId('producer'),
  partition: 0,
  ticket: '',
  batches: null,
  rows: 30,
  bytes: 300,
};

/** Collects an input of one source, whose output is on this worker and has these batches. */
const collect = (changes: Partial<InputSource>, batches: readonly number[]) => {
  const nowhere = () => Promise.reject(new Error('nothing is fetched'));
  const places: InputPlaces = {
    isLocal: () => true,
    local: () => Promise.resolve(outputOf(batches)),
    open: () => outputOf([]),
    fetch: nowhere,
  };
  const inputs = [{ columns: [], reads: 1, sources: [{ ...SOURCE, ...changes }] }];
  const spec = { taskId: taskId('reader'), queryId: queryId('q'), inputs } as unknown as SentTask;
  return collectInputs(new AbortController().signal, spec, places);
};

test.each<[string, Partial<InputSource>, readonly number[]]>([
  ['a partition with as many rows as its task reported', {}, [10, 20]],
  ['a slice with as many batches as it names', { batches: { start: 1, end: 3 }, rows: 1 }, [10, 20, 30, 40]],
  ['a task that still ran when its reader was sent', { awaited: true, rows: 5 }, [10, 20]],
])('%s is read', async (_what, changes, batches) => {
  expect(await collect(changes, batches)).toMatchObject({ kind: 'ready' });
});

test.each<[string, Partial<InputSource>, readonly number[], string]>([
  ['with rows too few', {}, [10], '30 were given, 10 arrived'],
  ['without rows', {}, [], '30 were given, 0 arrived'],
  ['with rows twice', {}, [10, 20, 10, 20], '30 were given, 60 arrived'],
  ['that ends before its slice', { batches: { start: 1, end: 3 } }, [10, 20], '2 were given, 1 arrived'],
])('a partition %s fails its reader', async (_what, changes, batches, message) => {
  const failed = { code: 'INTERNAL_ERROR', message: expect.stringContaining(message) };
  await expect(collect(changes, batches)).rejects.toMatchObject(failed);
});

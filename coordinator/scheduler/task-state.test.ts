import { expect, test } from 'vitest';
import type { FinishedTask } from './finished-task.ts';
import { SkeinError } from '#shared/error.ts';
import { taskId } from '#shared/id.ts';
import { NEW_STAGE, nextStage, type StageEvent, type StageState } from './stage-state.ts';
import { isCarried, NEW_TASK, nextTask, type TaskEvent, type TaskState } from './task-state.ts';

const worker = (id: string) => ({ id, address: `${id}:1` });
const placed = (id: string): TaskEvent => ({ kind: 'placed', taskId: taskId(`t-${id}`), worker: worker(id) });
const report = { rows: 1 } as FinishedTask;
const finished: TaskEvent = { kind: 'finished', report };
const after = (...events: readonly TaskEvent[]): TaskState => events.reduce(nextTask, NEW_TASK);

test('a task runs, and its output is lost and made again elsewhere', () => {
  expect(after(placed('a'), finished)).toMatchObject({ kind: 'done', output: { worker: { id: 'a' } } });
  const lost = after(placed('a'), finished, { kind: 'outputLost' });
  expect(lost).toMatchObject({ kind: 'waiting', attempts: 1, workersLost: 0, avoid: [] });
  expect(nextTask(lost, placed('b'))).toMatchObject({ kind: 'running', worker: { id: 'b' }, attempts: 2 });
});

test('an output whose rows all came with the report outlives its worker', () => {
  const output = (...partitions: FinishedTask['partitions']) => ({
    taskId: taskId('t'),
    worker: worker('a'),
    report: { partitions } as unknown as FinishedTask,
  });
  const none = { rows: 0, batches: 0, bytes: 0 };
  const held = { rows: 1, batches: 1, bytes: 9 };
  expect(isCarried(output(none, { ...held, messages: [Uint8Array.of(1)] }))).toBe(true);
  expect(isCarried(output({ ...held, messages: [Uint8Array.of(1)] }, held))).toBe(false);
});

test('a worker that is lost or refuses is avoided; one whose input was lost is not to blame', () => {
  expect(after(placed('a'), { kind: 'workerLost' })).toMatchObject({ kind: 'waiting', workersLost: 1, avoid: ['a'] });
  expect(after(placed('a'), { kind: 'refused' })).toMatchObject({ workersLost: 0, avoid: [], refusedBy: ['a'] });
  expect(after(placed('a'), { kind: 'inputLost' })).toMatchObject({ workersLost: 0, avoid: [] });
});

test('workers that end themselves because of others cost a task no attempt', () => {
  const ends = Array.from({ length: 20 }, (): TaskEvent[] => [placed('a'), { kind: 'workerEnded' }]).flat();
  expect(after(...ends)).toMatchObject({ kind: 'waiting', attempts: 0, workersLost: 0, avoid: [], refusedBy: [] });
});

test('a task that two workers were lost with fails, and so does one that is tried again and again', () => {
  const killer = after(placed('a'), { kind: 'workerLost' }, placed('b'), { kind: 'workerLost' });
  expect(killer).toEqual({ kind: 'failed', failure: { kind: 'killsWorkers', workersLost: 2 } });
  const again = Array.from({ length: 6 }, (): TaskEvent[] => [placed('a'), { kind: 'inputLost' }]).flat();
  expect(after(...again)).toEqual({ kind: 'failed', failure: { kind: 'attempts', attempts: 6 } });
  const losses = Array.from({ length: 6 }, (): TaskEvent[] => [placed('a'), finished, { kind: 'outputLost' }]).flat();
  expect(after(...losses)).toEqual({ kind: 'failed', failure: { kind: 'attempts', attempts: 6 } });
});

test('a task whose connection broke goes back to its worker, a few times', () => {
  const broken = after(placed('a'), { kind: 'connectionLost' });
  expect(broken).toMatchObject({ kind: 'waiting', boundTo: 'a', connectionsLost: 1, workersLost: 0, avoid: [] });
  expect(after(placed('a'), { kind: 'connectionLost' }, placed('a'), { kind: 'workerLost' })).toMatchObject({
    boundTo: null,
    avoid: ['a'],
  });
  const breaks = Array.from({ length: 3 }, (): TaskEvent[] => [placed('a'), { kind: 'connectionLost' }]).flat();
  expect(after(...breaks)).toEqual({ kind: 'failed', failure: { kind: 'connections', connectionsLost: 3 } });
});

test('a task refused by a draining worker has not run; any number of workers may refuse it', () => {
  const refusals = Array.from({ length: 20 }, (_, i): TaskEvent[] => [placed(`w${i}`), { kind: 'refused' }]).flat();
  expect(after(...refusals)).toMatchObject({ kind: 'waiting', attempts: 0 });
});

test('an event that comes too late changes nothing', () => {
  const states = [NEW_TASK, after(placed('a')), after(placed('a'), finished)];
  expect(nextTask(NEW_TASK, finished)).toBe(NEW_TASK);
  expect(nextTask(NEW_TASK, { kind: 'outputLost' })).toBe(NEW_TASK);
  expect(nextTask(states[1] ?? NEW_TASK, placed('b'))).toBe(states[1]);
  expect(nextTask(states[2] ?? NEW_TASK, { kind: 'workerLost' })).toBe(states[2]);
  const failed = after(placed('a'), { kind: 'failed', error: new SkeinError('OUT_OF_MEMORY', 'x') });
  expect(nextTask(failed, placed('b'))).toBe(failed);
});

const stage = (...events: readonly StageEvent[]): StageState => events.reduce(nextStage, NEW_STAGE);
const on = (task: number, event: TaskEvent): StageEvent => ({ kind: 'task', task, event });

test('a stage is done when all its tasks are made and done, and runs again when one of their outputs is lost', () => {
  const both = [{ kind: 'made' }, { kind: 'made' }] as const;
  const run = [on(0, placed('a')), on(0, finished), on(1, placed('b')), on(1, finished)];
  expect(stage(...both, ...run).kind).toBe('running');
  const done = stage(...both, ...run, { kind: 'allMade' });
  expect(done.kind).toBe('done');
  const lost = nextStage(done, on(1, { kind: 'outputLost' }));
  expect(lost).toMatchObject({ kind: 'running', allMade: true, tasks: [{ kind: 'done' }, { kind: 'waiting' }] });
  expect([on(1, placed('a')), on(1, finished)].reduce(nextStage, lost).kind).toBe('done');
});

test('a stage fails with its task, and stays so', () => {
  const error = new SkeinError('OUT_OF_MEMORY', 'x');
  const failed = stage({ kind: 'made' }, on(0, placed('a')), on(0, { kind: 'failed', error }));
  expect(failed).toEqual({ kind: 'failed', task: 0, failure: { kind: 'error', error } });
  expect(nextStage(failed, { kind: 'made' })).toBe(failed);
});

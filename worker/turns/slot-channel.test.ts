import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { TaskReport } from '#shared/task/task.ts';
import { Attempt } from '../slot/attempt.ts';
import { SlotChannel, ThreadChannel } from './slot-channel.ts';
import type { FromJob, SlotInput, SlotStart } from './slot-messages.ts';
import { TaskOutput } from '../run/task-output.ts';

const TIME: SlotInput = { kind: 'time', time: { scheduledMs: 5, pinnedToTop: false } };
const HOLD: SlotInput = { kind: 'hold', on: true };

const nothing = (): void => undefined;
const OPTIONS = {
  bufferBytes: 1e6,
  spoolFull: () => false,
  onTaken: nothing,
  onWithdrawn: nothing,
  onHold: nothing,
  onKey: () => undefined,
  onTime: nothing,
  onCancel: nothing,
};

/** Both ends in this thread, and jobs whose messages go to `heard`. */
function makeChannel(jobs: readonly number[]) {
  const [main, thread] = [new SlotChannel(), new ThreadChannel()];
  const heard: FromJob[] = [];
  for (const [i, job] of jobs.entries()) {
    const port = main.begin(job, (message) => heard.push(message));
    expect(port === null).toBe(i > 0);
    thread.use(port);
  }
  return { main, thread, heard };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await nextTurn();
};

test('what is sent to a job before it begins waits for it, and what comes after its end goes to nobody', async () => {
  const { main, thread } = makeChannel([7]);
  for (const input of [HOLD, TIME]) main.post({ job: 7, input });
  await turns();
  const got: SlotInput[] = [];
  thread.listen(7, (input) => got.push(input));
  expect(got).toEqual([HOLD, TIME]);
  main.post({ job: 7, input: { kind: 'withdrawn' } });
  await turns();
  expect(got).toEqual([HOLD, TIME, { kind: 'withdrawn' }]);
  thread.post({ job: 7, outputs: [], isLast: true }, []);
  main.post({ job: 7, input: TIME });
  await turns();
  expect(got).toHaveLength(3);
});

test('each job hears its own messages, up to the last', async () => {
  const { thread, heard } = makeChannel([1, 2]);
  for (const [job, isLast] of [
    [2, false],
    [1, true],
    [2, true],
    [1, false],
    [2, false],
  ] as const)
    thread.post({ job, outputs: [], isLast }, []);
  await turns();
  expect(heard.map(({ job, isLast }) => [job, isLast])).toEqual([
    [2, false],
    [1, true],
    [2, true],
  ]);
});

const rows = (count: number) => ({
  kind: 'batch' as const,
  rows: count,
  header: new Uint8Array(8),
  buffers: [],
  bodyBytes: 0,
});

test('what a short task says is one message, and rows in the middle of a quantum go at once', async () => {
  const { thread, heard } = makeChannel([1, 2, 3]);
  const short = new TaskOutput(1, thread, OPTIONS);
  short.send({ ...rows(0), kind: 'schema' });
  short.sendRows();
  short.send(rows(5));
  await Promise.resolve();
  short.finish({ rows: 5 } as TaskReport);
  short.close();
  const long = new TaskOutput(2, thread, OPTIONS);
  long.send({ ...rows(0), kind: 'schema' });
  long.send(rows(5));
  long.sendRows();
  new TaskOutput(3, thread, OPTIONS).send({ ...rows(0), kind: 'schema' });
  await turns();
  expect(heard.map(({ job, outputs, isLast }) => [job, outputs.map(({ kind }) => kind), isLast])).toEqual([
    [1, ['data', 'data', 'finished'], true],
    [2, ['data', 'data'], false],
    [3, ['data'], false],
  ]);
});

describe('a thread that dies', () => {
  const PROGRAM = `const { workerData } = require('node:worker_threads'); workerData.port.on('message', () => {});`;

  test('is followed by one that gets a channel of its own', async () => {
    const main = new SlotChannel();
    const port = must(main.begin(1, nothing), 'the first job takes it');
    const thread = new Worker(PROGRAM, { eval: true, workerData: { port }, transferList: [port] });
    await once(thread, 'online');
    expect(main.begin(2, nothing)).toBeNull();
    await thread.terminate();
    let job = 2;
    await expect.poll(() => main.begin(++job, nothing)).not.toBeNull();
    expect(() => new ThreadChannel().use(null)).toThrow('no channel');
  });

  test('has lost the jobs that began with its channel, and no later ones', async () => {
    const { main, thread, heard } = makeChannel([1, 2]);
    const { left } = attemptOf(main, 3, Promise.reject(new Error('the thread died')));
    expect(await left).toBe(false);
    const next = new ThreadChannel();
    const got: SlotInput[] = [];
    next.use(must(main.begin(4, nothing), 'the next job brings a channel'));
    next.listen(4, (input) => got.push(input));
    // The death of the first thread is told again, by another of its jobs.
    main.lost(2);
    expect(main.begin(5, nothing)).toBeNull();
    main.post({ job: 4, input: HOLD });
    // Messages of the first thread still come: they may hold memory.
    thread.post({ job: 1, outputs: [], isLast: true }, []);
    await turns();
    expect(got).toEqual([HOLD]);
    expect(heard).toEqual([{ job: 1, outputs: [], isLast: true }]);
  });

  test('without a job is followed by one that gets a channel', () => {
    const { main } = makeChannel([1]);
    main.lost();
    expect(main.begin(2, nothing)).not.toBeNull();
  });
});

const attemptOf = (channel: SlotChannel, job: number, done: Promise<void>): Attempt =>
  new Attempt(job, {} as SlotStart, { run: () => done, cpuMs: () => 0, channel }, nothing);

import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { TaskReport } from '#proto/task.ts';
import { SlotChannel, ThreadChannel } from './slot-channel.ts';
import type { FromJob, SlotInput } from './slot-messages.ts';
import { TaskOutput } from './task-output.ts';

const TIME: SlotInput = { kind: 'time', time: { scheduledMs: 5, pinnedToTop: false } };
const HOLD: SlotInput = { kind: 'hold', on: true };

const nothing = (): void => undefined;
const OPTIONS = {
  bufferBytes: 1e6,
  spoolFull: () => false,
  onTaken: nothing,
  onWithdrawn: nothing,
  onHold: nothing,
  onTime: nothing,
  onCancel: nothing,
};

/** Both ends in this thread. */
function makeChannel(): { readonly main: SlotChannel; readonly thread: ThreadChannel } {
  const [main, thread] = [new SlotChannel(), new ThreadChannel()];
  thread.use(must(main.open(), 'the first job takes it'));
  expect(main.open()).toBeNull();
  thread.use(null);
  return { main, thread };
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await nextTurn();
};

test('what is sent to a job before it begins waits for it, and what comes after its end goes to nobody', async () => {
  const { main, thread } = makeChannel();
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
  const { main, thread } = makeChannel();
  const heard: number[] = [];
  for (const job of [1, 2]) main.listen(job, (message) => heard.push(message.job * 10 + Number(message.isLast)));
  for (const [job, isLast] of [
    [2, false],
    [1, true],
    [2, true],
    [1, false],
    [2, false],
  ] as const)
    thread.post({ job, outputs: [], isLast }, []);
  await turns();
  expect(heard).toEqual([20, 11, 21]);
});

test('the small messages of a short task go together, with its report; a large one goes at once', async () => {
  const { main, thread } = makeChannel();
  const messages: FromJob[] = [];
  main.listen(1, (message) => messages.push(message));
  const output = new TaskOutput(1, thread, OPTIONS);
  const message = (bytes: number) => ({
    kind: 'batch' as const,
    rows: 1,
    header: new Uint8Array(bytes),
    buffers: [],
    bodyBytes: 0,
  });
  output.send(message(100_000));
  output.send(message(8));
  output.send(message(8));
  await Promise.resolve();
  output.finish({ rows: 3 } as TaskReport);
  output.close();
  await turns();
  expect(messages.map(({ outputs, isLast }) => [outputs.map(({ kind }) => kind), isLast])).toEqual([
    [['data'], false],
    [['data', 'data', 'finished'], true],
  ]);
  main.listen(2, (one) => messages.push(one));
  new TaskOutput(2, thread, OPTIONS).send(message(8));
  await turns();
  expect(messages.at(-1)).toMatchObject({ job: 2, isLast: false });
});

test('a thread that follows on one that died gets a channel of its own', async () => {
  const main = new SlotChannel();
  const program = `const { workerData } = require('node:worker_threads'); workerData.port.on('message', () => {});`;
  const port = must(main.open(), 'the first job takes it');
  const thread = new Worker(program, { eval: true, workerData: { port }, transferList: [port] });
  await once(thread, 'online');
  expect(main.open()).toBeNull();
  await thread.terminate();
  await expect.poll(() => main.open()).not.toBeNull();
  expect(() => new ThreadChannel().use(null)).toThrow('no channel');
});

import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AnswerInput } from '#proto/generated/skein/calls/v1/Answer.ts';
import type { Call } from '#proto/generated/skein/calls/v1/Call.ts';
import type { CancelTaskReplyInput } from '#proto/generated/skein/worker/v1/CancelTaskReply.ts';
import type { CancelTaskRequest } from '#proto/generated/skein/worker/v1/CancelTaskRequest.ts';
import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { answerCalls } from './answer-calls.ts';
import { CallStream, CARRIED_BYTES_MAX } from './call-stream.ts';
import { plainSecurity } from './channel-security.ts';
import { requireSecret, toServiceError } from './internal-auth.ts';
import { loadService } from './load-proto.ts';

type Cancel = ServerUnaryCall<CancelTaskRequest, CancelTaskReplyInput>;

const { Client, definition } = loadService('worker.proto', 'skein.worker.v1.Worker');
const server = new Server();
/** Calls that wait for the test to answer them, by task id. */
const held = new Map<string, sendUnaryData<CancelTaskReplyInput>>();
/** Tasks whose calls were cancelled. */
const cancelled: string[] = [];
const wires: ServerDuplexStream<Call, AnswerInput>[] = [];
const accepted = ['one', 'two'];
let ownCalls = 0;
let address: string;

/** Answers what the id of the task asks for. */
function cancelTask(call: Cancel, callback: sendUnaryData<CancelTaskReplyInput>): void {
  const { task_id: id, reason } = call.request;
  if ('call' in call) ownCalls += 1;
  call.on('cancelled', () => cancelled.push(id));
  if (id.startsWith('held')) held.set(id, callback);
  else if (id === 'refused') callback(toServiceError(new SkeinError('INVALID_CAST', reason, { position: 7 })));
  else if (id === 'broken') callback({ code: 13, details: 'not ours' });
  else if (id === 'throws') throw new Error('a handler must not');
  else callback(null, { found: id === 'yes' });
}

beforeAll(async () => {
  const carried = {
    CancelTask: cancelTask,
    RunTask: (_call: unknown, callback: sendUnaryData<object>) => {
      callback(null, { report: Buffer.alloc(2 * CARRIED_BYTES_MAX, 1) });
    },
  };
  const keyring = { current: 'one', accepted };
  const answer = answerCalls(definition, carried, ({ metadata }) => requireSecret(metadata, keyring));
  const Calls = (wire: ServerDuplexStream<Call, AnswerInput>): void => {
    wires.push(wire);
    answer(wire);
  };
  server.addService(definition, { ...carried, Calls });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  address = `127.0.0.1:${port}`;
});

afterAll(() => server.forceShutdown());

beforeEach(() => {
  held.clear();
  cancelled.length = 0;
  wires.length = 0;
  ownCalls = 0;
});

function open(keyring = { current: 'one', accepted }): CallStream<WorkerClient> & Disposable {
  const client = plainSecurity(keyring).dial(Client, { address, role: 'worker' });
  const calls = new CallStream(client, definition, { keyring, lost: 'CONNECTION_LOST' });
  return Object.assign(calls, { [Symbol.dispose]: () => calls.close() });
}

const cancel = (calls: CallStream<WorkerClient>, task: string, settings = {}, reason = ''): Promise<unknown> =>
  calls.call('CancelTask', { task_id: task, code: 'QUERY_CANCELLED', reason }, settings);

test('many calls share one stream, and each gets its own answer in whatever order they come', async () => {
  using calls = open();
  const waiting = Array.from({ length: 50 }, (_, i) => cancel(calls, `held ${i}`));
  await vi.waitFor(() => expect(held.size).toBe(50));
  expect(await cancel(calls, 'yes')).toMatchObject({ found: true });
  for (const [id, callback] of [...held].toReversed()) callback(null, { found: Number(id.slice(5)) % 3 === 0 });
  expect(await Promise.all(waiting)).toMatchObject(waiting.map((_, i) => ({ found: i % 3 === 0 })));
  expect([wires.length, ownCalls]).toEqual([1, 0]);
});

test.each([
  ['refused', { code: 'INVALID_CAST', message: 'why', position: 7 }],
  ['broken', { code: 'INTERNAL_ERROR' }],
  ['throws', { code: 'INTERNAL_ERROR' }],
])('a call that is %s fails by itself, with its error', async (task, error) => {
  using calls = open();
  const other = cancel(calls, 'held');
  await expect(cancel(calls, task, {}, 'why')).rejects.toMatchObject(error);
  await vi.waitFor(() => expect(held.size).toBe(1));
  held.get('held')?.(null, { found: true });
  expect(await other).toMatchObject({ found: true });
});

test('a method that is not carried is refused', async () => {
  using calls = open();
  await expect(calls.call('Drain', {})).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('a call that its caller leaves is cancelled at the service, and no other is', async () => {
  using calls = open();
  const stop = new AbortController();
  const left = cancel(calls, 'held, left', { signal: stop.signal });
  const late = cancel(calls, 'held, late', { timeoutMs: 200 });
  const other = cancel(calls, 'held');
  await vi.waitFor(() => expect(held.size).toBe(3));
  stop.abort(new SkeinError('QUERY_TIMEOUT', 'enough'));
  await expect(left).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  await expect(late).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  await vi.waitFor(() => expect(cancelled).toEqual(['held, left', 'held, late']));
  // Their answers come too late.
  for (const callback of held.values()) callback(null, { found: true });
  expect(await other).toMatchObject({ found: true });
  expect(await cancel(calls, 'no')).toMatchObject({ found: false });
  await expect(cancel(calls, 'yes', { signal: stop.signal })).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
});

test('when the connection breaks, what waits on it is lost and cancelled, and the next call opens another', async () => {
  using calls = open();
  const waiting = [cancel(calls, 'held 1'), cancel(calls, 'held 2')];
  await vi.waitFor(() => expect(held.size).toBe(2));
  sessionOf(must(wires[0], 'a stream')).destroy();
  const ends = await Promise.allSettled(waiting);
  expect(ends.map((end) => end.status === 'rejected' && SkeinError.of(end.reason).code)).toEqual([
    'CONNECTION_LOST',
    'CONNECTION_LOST',
  ]);
  await vi.waitFor(() => expect(cancelled).toHaveLength(2));
  await vi.waitFor(async () => expect(await cancel(calls, 'yes')).toMatchObject({ found: true }));
  expect(wires.length).toBeGreaterThan(1);
});

test('a long request and a long reply go by calls of their own', async () => {
  using calls = open();
  expect(await cancel(calls, 'yes', {}, 'x'.repeat(CARRIED_BYTES_MAX))).toMatchObject({ found: true });
  expect([wires.length, ownCalls]).toEqual([0, 1]);
  const { report } = await calls.call('RunTask', { spec: Buffer.alloc(0), ticket: '' });
  expect(report).toHaveLength(2 * CARRIED_BYTES_MAX);
});

test('a stranger gets no stream', async () => {
  using calls = open({ current: 'three', accepted: ['three'] });
  await expect(cancel(calls, 'yes')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('when the secret changes, calls take a stream with the new one, and those on their way are answered', async () => {
  const keyring = { current: 'one', accepted };
  using calls = open(keyring);
  const stop = new AbortController();
  const before = cancel(calls, 'held 1');
  const left = cancel(calls, 'held 2', { signal: stop.signal });
  await vi.waitFor(() => expect(held.size).toBe(2));
  keyring.current = 'two';
  expect(await cancel(calls, 'yes')).toMatchObject({ found: true });
  stop.abort(new SkeinError('QUERY_TIMEOUT', 'enough'));
  await expect(left).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  await vi.waitFor(() => expect(cancelled).toEqual(['held 2']));
  expect(wires[0]?.readableEnded).toBe(false);
  held.get('held 1')?.(null, { found: true });
  expect(await before).toMatchObject({ found: true });
  await vi.waitFor(() => expect(wires[0]?.readableEnded).toBe(true));
  expect(wires.map(({ metadata }) => metadata.get('authorization'))).toEqual([['Bearer one'], ['Bearer two']]);
});

test('what waits when the stream is closed ends', async () => {
  const calls = open();
  const waiting = cancel(calls, 'held');
  await vi.waitFor(() => expect(held.size).toBe(1));
  calls.close();
  await expect(waiting).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  await vi.waitFor(() => expect(cancelled).toEqual(['held']));
});

/** The HTTP/2 session of a call, which grpc-js does not expose. */
function sessionOf(call: object): Http2Session {
  const { call: inner } = call as { call: { stream: ServerHttp2Stream } };
  return must(inner.stream.session, 'a call that runs has a connection');
}

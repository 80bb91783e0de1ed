import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { InputSource } from '#shared/task/task.ts';
import { answerCalls } from '#shared/grpc/answer-calls.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { queryId, taskId } from '#shared/id.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { Spool } from '../spool/spool.ts';
import { SpoolStore } from '../spool/spooled-output.ts';
import { PeerClients, SHORT_PARTITION_BYTES } from './peer-clients.ts';

type Asked = { readonly ticket: Buffer };

/** Answers calls for the outputs of tasks that still run. */
const waiting: (() => void)[] = [];
/** Partitions that were read with DoGet. */
const streamed: string[] = [];
const server = new Server();
let address: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skein-peers-'));
  const flight = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  server.addService(flight.definition, {
    DoGet: (call: ServerWritableStream<Asked, object>) => {
      streamed.push(call.request.ticket.toString());
      call.end();
    },
  });
  const carried = {
    ReadPartition: (call: ServerUnaryCall<Asked, object>, callback: sendUnaryData<object>) => {
      const ticket = call.request.ticket.toString();
      const answer = (): void => callback(null, ticket.includes('long') ? { is_long: true } : { messages: [] });
      if (ticket.startsWith('runs')) waiting.push(answer);
      else if (!ticket.startsWith('silent')) answer();
    },
  };
  const worker = loadService('worker.proto', 'skein.worker.v1.Worker');
  server.addService(worker.definition, { ...carried, Calls: answerCalls(worker.definition, carried, () => undefined) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  address = `127.0.0.1:${port}`;
});

afterAll(() => {
  server.forceShutdown();
  rmSync(folder, { recursive: true, force: true });
});

const source = (ticket: string): InputSource => ({
  address,
  taskId: taskId(ticket),
  partition: 0,
  ticket,
  batches: null,
  rows: 0,
  bytes: 0,
});

const SILENCE_MS = 200;

/** Fetches from the server above; the copy is dropped. */
function fetching(): { readonly peers: PeerClients; readonly fetch: (one: InputSource) => Promise<void> } {
  const peers = new PeerClients({ security: plainSecurity(fixedKeyring('s')), silenceMs: SILENCE_MS });
  const store = new SpoolStore({ folder, memory: new Spool(1e6, () => undefined), diskBytesMax: 1e9 });
  const signal = AbortSignal.timeout(20_000);
  const fetch = async (one: InputSource): Promise<void> => {
    const into = store.open(queryId('q'), 1);
    try {
      await peers.fetch(signal, one, into);
    } finally {
      await into.release();
    }
  };
  return { peers, fetch };
}

test('fetches that wait for tasks to end keep no others waiting, and are not taken for silent', async () => {
  const { peers, fetch } = fetching();
  // More than are fetched at once.
  const awaited = Array.from({ length: 20 }, (_, i) => fetch({ ...source(`runs ${i}`), awaited: true }));
  await vi.waitFor(() => expect(waiting).toHaveLength(20));
  await fetch(source('ended'));
  await sleep(2 * SILENCE_MS);
  for (const answer of waiting) answer();
  await Promise.all(awaited);
  expect(waiting).toHaveLength(20);
  peers.close();
});

test('a short partition comes by a short call; a long one, and one that turns out to be long, is streamed', async () => {
  const { peers, fetch } = fetching();
  streamed.length = 0;
  await fetch({ ...source('short'), bytes: SHORT_PARTITION_BYTES, batches: { start: 2, end: 5 } });
  expect(streamed).toEqual([]);
  await fetch({ ...source('known'), bytes: SHORT_PARTITION_BYTES + 1 });
  await fetch({ ...source('long'), bytes: 1, batches: { start: 2, end: 5 } });
  expect(streamed).toEqual(['known@0', 'long@2-5']);
  peers.close();
});

test('a peer that does not answer a short call is lost', async () => {
  const { peers, fetch } = fetching();
  await expect(fetch(source('silent'))).rejects.toMatchObject({ code: 'WORKER_LOST' });
  peers.close();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { InputSource } from '#proto/task.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { queryId, taskId } from '#shared/id.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { Spool } from '../spool/spool.ts';
import { SpoolStore } from '../spool/spooled-output.ts';
import { PeerClients } from './peer-clients.ts';

type Call = ServerWritableStream<{ readonly ticket: Buffer }, object>;

/** Calls for the outputs of tasks that still run. */
const waiting: Call[] = [];
const server = new Server();
let address: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skein-peers-'));
  const flight = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  server.addService(flight.definition, {
    DoGet: (call: Call) => {
      if (call.request.ticket.toString().startsWith('runs')) waiting.push(call);
      else call.end();
    },
  });
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

test('fetches that wait for tasks to end keep no others waiting, and are not taken for silent', async () => {
  const silenceMs = 200;
  const peers = new PeerClients({ security: plainSecurity(fixedKeyring('s')), silenceMs });
  const store = new SpoolStore({ folder, memory: new Spool(1e6, () => undefined), diskBytesMax: 1e9 });
  const signal = AbortSignal.timeout(20_000);
  const fetch = async (one: InputSource): Promise<void> => {
    const into = store.open(queryId('q'), 1);
    await peers.fetch(signal, one, into);
    await into.release();
  };
  // More than are fetched at once.
  const awaited = Array.from({ length: 20 }, (_, i) => fetch({ ...source(`runs ${i}`), awaited: true }));
  await vi.waitFor(() => expect(waiting).toHaveLength(20));
  await fetch(source('ended'));
  await sleep(2 * silenceMs);
  for (const call of waiting) call.end();
  await Promise.all(awaited);
  expect(waiting).toHaveLength(20);
  peers.close();
});

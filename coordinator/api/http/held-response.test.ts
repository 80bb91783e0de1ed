import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { HeldResponse } from './held-response.ts';

/** The answer of a server whose one response `work` writes. */
async function answerOf(
  work: (response: HeldResponse, raw: ServerResponse) => Promise<void>,
  limits: { readonly holdbackBytes: number; readonly resultBytesMax: number },
): Promise<{ readonly status: number; readonly text: string }> {
  const server = createServer((_request, raw) => {
    const held = new HeldResponse(raw, { ...limits, headers: {}, contentType: 'text/plain' });
    work(held, raw).catch((error: unknown) => {
      raw.writeHead(400).end((error as { readonly code?: string }).code);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}`);
  const text = await response.text();
  server.close();
  return { status: response.status, text };
}

const piece = (i: number): Buffer => Buffer.from(`${i},`.padEnd(100, '.'));
const LIMITS = { holdbackBytes: 1_000, resultBytesMax: 1_000_000 };

test('the head is held back, so that an error keeps its status; what is longer is streamed', async () => {
  let wasSent = [true, false];
  const { status, text } = await answerOf(async (response, raw) => {
    response.start(Buffer.from('head,'));
    for (let i = 0; i < 9; i += 1) await response.push([piece(i)]);
    const before = raw.headersSent || response.committed;
    for (let i = 9; i < 50; i += 1) await response.push([piece(i)]);
    wasSent = [before, response.committed];
    response.end(Buffer.from('end'));
  }, LIMITS);
  expect([wasSent, status]).toEqual([[false, true], 200]);
  expect(text).toBe(`head,${Array.from({ length: 50 }, (_, i) => piece(i).toString()).join('')}end`);
});

test('one that begins again has nothing of what it was before', async () => {
  const { text } = await answerOf(async (response) => {
    for (const round of [1, 2]) {
      response.start(Buffer.from(`${round}:`));
      for (let i = 0; i < 4; i += 1) await response.push([piece(i * round)]);
    }
    response.end(Buffer.from('end'));
  }, LIMITS);
  expect(text).toBe(`2:${Array.from({ length: 4 }, (_, i) => piece(i * 2).toString()).join('')}end`);
});

test('one that is too long fails with its status', async () => {
  const long = await answerOf(
    async (response) => {
      response.start(Buffer.from('a'));
      for (let i = 0; i < 100; i += 1) await response.push([piece(i)]);
      response.end(Buffer.from('z'));
    },
    { holdbackBytes: 10_000, resultBytesMax: 5_000 },
  );
  expect(long).toEqual({ status: 400, text: 'RESULT_TOO_LARGE' });
});

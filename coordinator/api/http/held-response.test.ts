import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HeldResponse } from './held-response.ts';

/** The answer of a server whose one response `work` writes. */
async function answerOf(
  work: (response: HeldResponse, raw: ServerResponse) => Promise<void>,
  limits: { readonly holdbackBytes: number; readonly resultBytesMax: number },
): Promise<{ readonly status: number; readonly text: string; readonly left: readonly string[] }> {
  const spoolFolder = await mkdtemp(join(tmpdir(), 'skein-held-'));
  const server = createServer((_request, raw) => {
    const held = new HeldResponse(raw, { ...limits, spoolFolder, headers: {}, contentType: 'text/plain' });
    work(held, raw).catch((error: unknown) => {
      raw.writeHead(400).end((error as { readonly code?: string }).code);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}`);
  const text = await response.text();
  server.close();
  return { status: response.status, text, left: await readdir(spoolFolder) };
}

const piece = (i: number): Buffer => Buffer.from(`${i},`.padEnd(100, '.'));
const LIMITS = { holdbackBytes: 1_000, resultBytesMax: 1_000_000 };

test('a result that is held is sent when it is released: the head, what was in memory, what was on disk, and what follows', async () => {
  let sentBefore = true;
  const { status, text, left } = await answerOf(async (response, raw) => {
    response.hold();
    response.start(Buffer.from('head,'));
    for (let i = 0; i < 5_000; i += 1) await response.push([piece(i)]);
    sentBefore = raw.headersSent || response.committed;
    await response.release();
    await response.push([piece(5_000)]);
    response.end(Buffer.from('end'));
  }, LIMITS);
  expect(sentBefore).toBe(false);
  expect(status).toBe(200);
  expect(text).toBe(`head,${Array.from({ length: 5_001 }, (_, i) => piece(i).toString()).join('')}end`);
  expect(left).toEqual([]);
});

test('one that begins again has nothing of what it was before', async () => {
  const { text } = await answerOf(async (response) => {
    response.hold();
    for (const round of [1, 2]) {
      response.start(Buffer.from(`${round}:`));
      for (let i = 0; i < 20 * round; i += 1) await response.push([piece(i * round)]);
    }
    await response.release();
    response.end(Buffer.from('end'));
  }, LIMITS);
  expect(text).toBe(`2:${Array.from({ length: 40 }, (_, i) => piece(i * 2).toString()).join('')}end`);
});

test('a short one has its length, and a long one fails before it is released', async () => {
  const short = await answerOf(async (response) => {
    response.hold();
    response.start(Buffer.from('a'));
    await response.push([piece(1)]);
    await response.release();
    response.end(Buffer.from('z'));
  }, LIMITS);
  expect(short.text).toBe(`a${piece(1).toString()}z`);
  const long = await answerOf(
    async (response) => {
      response.hold();
      response.start(Buffer.from('a'));
      for (let i = 0; i < 100; i += 1) await response.push([piece(i)]);
      await response.release();
      response.end(Buffer.from('z'));
    },
    { ...LIMITS, resultBytesMax: 5_000 },
  );
  expect(long).toMatchObject({ status: 400, text: 'RESULT_TOO_LARGE', left: [] });
});

import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Transfers } from './transfers.ts';

const transfers = new Transfers({ transfersMax: 3, perPrincipalMax: 2, idleMs: 50, bytesMax: 10 });
const receive = async (chunks: readonly string[], lengths: Parameters<Transfers['receive']>[1]): Promise<string> => {
  let text = '';
  for await (const chunk of transfers.receive(Readable.from(chunks.map((one) => Buffer.from(one))), lengths)) {
    text += Buffer.from(chunk).toString();
  }
  return text;
};

test('a body has the bytes that it must have', async () => {
  expect(await receive(['ab', 'c'], { declared: 3, wanted: 3 })).toBe('abc');
  expect(await receive([], { declared: null, wanted: null })).toBe('');
  await expect(receive(['ab'], { declared: 2, wanted: 3 })).rejects.toThrow(
    'the body has 2 bytes, and the URL is for 3',
  );
  await expect(receive(['ab'], { declared: null, wanted: 3 })).rejects.toThrow('has 2 bytes');
  await expect(receive(['abcd'], { declared: null, wanted: 3 })).rejects.toThrow('has 4 bytes');
  await expect(receive(['x'.repeat(11)], { declared: null, wanted: null })).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
  });
  await expect(receive([], { declared: 11, wanted: null })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
});

test('a body that stops is cut off', async () => {
  const silent = new Readable({ read: () => undefined });
  silent.push('a');
  const reading = (async () => {
    for await (const _ of transfers.receive(silent, { declared: null, wanted: null }));
  })();
  await expect(reading).rejects.toThrow('no byte came for 50 ms');
});

test('transfers have limits, for each principal and in all', () => {
  const first = transfers.begin('a');
  transfers.begin('a');
  expect(() => transfers.begin('a')).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  transfers.begin('b');
  expect(() => transfers.begin('c')).toThrow('3 transfers run');
  first[Symbol.dispose]();
  transfers.begin('a');
});

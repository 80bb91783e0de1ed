import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { queryId } from '#shared/id.ts';
import type { ResultBatch } from '../../sink/result-sink.ts';
import { FlightResult } from './flight-result.ts';

let spoolFolder: string;
beforeAll(async () => {
  spoolFolder = await mkdtemp(join(tmpdir(), 'skein-flight-'));
});
afterAll(() => rm(spoolFolder, { recursive: true }));

const newResult = (bytesMax = 1_000): FlightResult =>
  new FlightResult({ queryId: queryId('q'), sql: 'SELECT 1', heldBytesMax: 10, bytesMax, spoolFolder });
const batch = (text: string): ResultBatch => ({ rows: 1, header: Buffer.from('h'), body: Buffer.from(text) });

async function texts(result: FlightResult): Promise<readonly string[]> {
  const read: string[] = [];
  for await (const { body } of result.read()) read.push(body.toString());
  return read;
}

test('rows that wait for the commit lie on disk beyond the first, and keep their order', async () => {
  const result = newResult();
  const all = ['12345', '123456789', 'a', '1234567890', 'b'];
  result.hold();
  result.start();
  for (const text of all) await result.batch(batch(text));
  await result.release();
  result.changed(5);
  result.finish({ rowCount: 5, elapsedMs: 0 });
  expect(await texts(result)).toEqual(all);
  result.cancel(new SkeinError('QUERY_CANCELLED', 'read'));
});

test('a result that begins again forgets them; more than a result may have is refused', async () => {
  const result = newResult(20);
  result.hold();
  result.start();
  await result.batch(batch('123456789012345'));
  result.start();
  await result.batch(batch('123456789012345'));
  expect(() => result.batch(batch('123456'))).toThrow(expect.objectContaining({ code: 'RESULT_TOO_LARGE' }) as Error);
  result.cancel(new SkeinError('QUERY_CANCELLED', 'refused'));
});

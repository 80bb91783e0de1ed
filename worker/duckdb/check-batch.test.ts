import { afterAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { arrowBuffer } from './arrow-buffer.ts';
import type { ArrowBatch } from './arrow-in.ts';
import { checkBatch } from './check-batch.ts';
import { Instance } from './instance.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { sourceSql, TYPES } from '#test/support/duckdb-types.ts';

const instance = Instance.open({ threads: '1' });
const connection = instance.connect();
afterAll(() => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
});
connection.run("SET arrow_lossless_conversion = true; SET arrow_output_version = '1.5'");

const first = (batches: readonly ArrowBatch[]): ArrowBatch => must(batches[0], 'a batch');

/** The batch with other bytes for one of its buffers. */
const withBuffer = (batch: ArrowBatch, at: number, bytes: Uint8Array): ArrowBatch => ({
  ...batch,
  buffers: batch.buffers.map((buffer, i) => (i === at ? arrowBuffer(bytes) : buffer)),
});

test.each(TYPES)('%s of our own writer passes', (type, values) => {
  const { fields, batches, dictionaries } = queryArrow(connection, sourceSql(type, values), instance);
  for (const batch of batches) checkBatch(fields, batch, dictionaries);
});

test('a batch that lacks what its rows need is refused', () => {
  const { fields, batches } = queryArrow(
    connection,
    "SELECT i, 'x' || i AS s, [i] AS l FROM range(100) t(i)",
    instance,
  );
  const batch = first(batches);
  const refuses = (other: ArrowBatch, why: string): void => expect(() => checkBatch(fields, other, [])).toThrow(why);
  checkBatch(fields, batch, []);
  refuses({ ...batch, rows: 101 }, 'fewer rows');
  refuses({ ...batch, rows: 2 ** 40 }, 'more than');
  refuses({ ...batch, buffers: batch.buffers.slice(0, -1) }, 'is missing');
  refuses({ ...batch, nodes: batch.nodes.slice(0, -1) }, 'is missing');
  refuses(withBuffer(batch, 1, new Uint8Array(799)), 'shorter');
  // Validity, offsets, bytes of the text.
  const far = new Uint8Array(Int32Array.from({ length: 101 }, (_, i) => i * 1_000).buffer);
  const back = new Uint8Array(Int32Array.from({ length: 101 }, (_, i) => (i === 50 ? -1_000_000 : i)).buffer);
  refuses(withBuffer(batch, 3, far), 'outside');
  refuses(withBuffer(batch, 3, back), 'outside');
  refuses(withBuffer(batch, 6, far), 'fewer rows');
});

test('an index beyond its dictionary is refused', () => {
  const sql = "SELECT (['a', 'b'][1 + i % 2])::ENUM('a', 'b') AS e FROM range(100) t(i)";
  const { fields, batches, dictionaries } = queryArrow(connection, sql, instance);
  const batch = first(batches);
  checkBatch(fields, batch, dictionaries);
  const indices = new Uint8Array(100).fill(1);
  checkBatch(fields, withBuffer(batch, 1, indices), dictionaries);
  indices[99] = 2;
  expect(() => checkBatch(fields, withBuffer(batch, 1, indices), dictionaries)).toThrow('not in its dictionary');
  expect(() => checkBatch(fields, batch, [])).toThrow('a dictionary is missing');
});

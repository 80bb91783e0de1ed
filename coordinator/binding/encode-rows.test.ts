import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { onePage } from '../catalog-client/pages.ts';
import { encodeRows, rowsBudget } from './encode-rows.ts';
import type { TableRows } from './table-rows.ts';
import { madeColumn, textColumns, type MadeRow } from './made-columns.ts';

const HEADER = { title: 'SHOW X', columns: textColumns(['a', 'b c']) };
const encode = (rows: readonly MadeRow[], bytesMax = 2 ** 20): Promise<TableRows> =>
  encodeRows(HEADER, onePage(rows), rowsBudget(bytesMax));

/** The rows as the Arrow library reads them from an IPC stream of the messages. */
function decode({ messages }: TableRows): readonly unknown[] {
  const parts = messages.flatMap((message) => {
    const { header, body } = decodeFlightData(Buffer.from(message));
    const padding = Buffer.alloc(-header.length & 7);
    const prefix = Buffer.alloc(8, 0xff);
    prefix.writeInt32LE(header.length + padding.length, 4);
    return [prefix, header, padding, body];
  });
  return tableFromIPC(Buffer.concat(parts))
    .toArray()
    .map((row: { toArray(): unknown }) => row.toArray());
}

test('texts, NULLs and no rows come back as they were', async () => {
  const rows = [
    ['x', null],
    [null, 'ünï 🦆'],
    ['', 'y'.repeat(1_000)],
  ] as const;
  expect(decode(await encode(rows))).toEqual(rows);
  expect(decode(await encode([]))).toEqual([]);
});

test('values of every type, and NULLs, come back as they were', async () => {
  const columns = [
    madeColumn('text', 'VARCHAR'),
    madeColumn('int', 'INTEGER'),
    madeColumn('long', 'BIGINT'),
    madeColumn('double', 'DOUBLE'),
    madeColumn('boolean', 'BOOLEAN'),
    madeColumn('time', 'TIMESTAMP WITH TIME ZONE'),
  ];
  const rows: readonly MadeRow[] = [
    ['x', -1, 2n ** 62n, 0.1, true, '2026-11-05T06:07:08.900Z'],
    [null, null, null, null, null, null],
    ['', 2 ** 31 - 1, 7, -1e300, false, '1969-12-31T23:59:59.999Z'],
  ];
  const encoded = await encodeRows({ title: 'SHOW X', columns }, onePage(rows), rowsBudget(2 ** 20));
  expect(decode(encoded)).toEqual([
    ['x', -1, 2n ** 62n, 0.1, true, Date.parse('2026-11-05T06:07:08.900Z')],
    [null, null, null, null, null, null],
    ['', 2 ** 31 - 1, 7n, -1e300, false, -1],
  ]);
  const plain = await encode([['x', 'y']]);
  expect(plain.columns.map(({ type }) => type.kind === 'scalar' && type.name)).toEqual(['VARCHAR', 'VARCHAR']);
});

test('many rows are many batches, and others have a turn between them', async () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => [`name ${i}`, null] as const);
  let turns = 0;
  let isDone = false;
  setImmediate(function turn() {
    turns += 1;
    if (!isDone) setImmediate(turn);
  });
  const encoded = await encode(rows);
  isDone = true;
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(encoded.messages).toHaveLength(6);
  expect(encoded.rowCount).toBe(10_000);
  expect(decode(encoded).at(-1)).toEqual(['name 9999', null]);
});

test('rows are limited over all that a statement makes', async () => {
  const take = rowsBudget(3_000);
  const rows = [['x'.repeat(1_000), null]] as const;
  await encodeRows(HEADER, onePage(rows), take);
  await expect(encodeRows(HEADER, onePage(rows), take)).rejects.toMatchObject({
    code: 'STATEMENT_TOO_COMPLEX',
    message: expect.stringContaining('more than 3000 bytes (coordinator.rows_bytes_max)') as unknown,
  });
});

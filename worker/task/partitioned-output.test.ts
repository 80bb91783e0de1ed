import { expect, test } from 'vitest';
import type { TaskReport } from '#shared/task/task.ts';
import { queryId } from '#shared/id.ts';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { encodeNative } from '../batch/arrow-message.ts';
import { Spool } from '../spool/spool.ts';
import { SpoolStore } from '../spool/spooled-output.ts';
import { PartitionedOutput } from './partitioned-output.ts';

/** Runs a task that gives two batches of three rows, and reports `rows`, over `partitions`. */
async function ended(rows: number, partitions: number) {
  const memory = new Spool(100_000, () => undefined);
  const store = new SpoolStore({ folder: '/nowhere', memory, diskBytesMax: 0 });
  const output = new PartitionedOutput(store.open(queryId('q'), partitions), new AbortController());
  for (let partition = 0; partition < partitions; partition += 1) {
    const body = new Uint8Array(64);
    const header = new Uint8Array(9);
    const buffers = [arrowBuffer(body)];
    const message = encodeNative({ kind: 'batch', rows: 3, header, buffers, bodyBytes: body.length });
    output.accept({ kind: 'batch', partition, message, rows: 3 }, () => undefined);
  }
  output.accept({ kind: 'finished', report: { rows, partitions: [] } as unknown as TaskReport }, () => undefined);
  const end = await output.end;
  await output.free();
  return end;
}

test('a task ends well when all rows that it gave are stored', async () => {
  const end = await ended(6, 2);
  expect(end).toMatchObject({ kind: 'finished', report: { rows: 6, partitions: [{ rows: 3 }, { rows: 3 }] } });
});

test.each([5, 7])('a task fails that gave %i rows, of which 6 are stored', async (given) => {
  const message = `rows were lost or doubled on their way: ${given} were given, 6 arrived`;
  expect(await ended(given, 2)).toEqual({ kind: 'failed', error: { code: 'INTERNAL_ERROR', message } });
});

test('the rows of a task that writes files are in these, not in partitions', async () => {
  expect(await ended(9, 0)).toMatchObject({ kind: 'finished', report: { rows: 9 } });
});

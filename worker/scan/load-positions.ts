import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { ArrowInput, type ArrowBatch } from '../duckdb/arrow-in.ts';
import type { ArrowField } from '../duckdb/arrow-schema.ts';
import type { Connection } from '../duckdb/instance.ts';
import { POSITIONS_TABLE, type DeletedPositions } from './deleted-positions.ts';

const column = (name: string, format: string): ArrowField => ({
  name,
  format,
  nullable: false,
  metadata: [],
  children: [],
  dictionary: null,
});

/** Positions inserted per step, which also bounds the array that repeats their file number. */
const BATCH_ROWS = 65_536;

/** Puts the positions in their temporary table, step by step: there may be millions. A task without any has no table. */
export function* loadPositions(connection: Connection, { files }: DeletedPositions): Generator<void> {
  if (files.length === 0) return;
  const fields = [column('file', 'i'), column('pos', 'l')];
  const rows = files.reduce((sum, positions) => sum + positions.length, 0);
  const batches = { [Symbol.iterator]: () => batchesOf(files) };
  using input = new ArrowInput(connection, { fields, dictionaries: [], rows, batches });
  yield* input.fillTable(POSITIONS_TABLE, ['INTEGER', 'BIGINT']);
}

function* batchesOf(files: readonly BigInt64Array[]): Generator<ArrowBatch> {
  for (const [file, all] of files.entries()) {
    for (let start = 0; start < all.length; start += BATCH_ROWS) {
      const positions = all.subarray(start, start + BATCH_ROWS);
      const numbers = new Int32Array(positions.length).fill(file);
      const node = { length: positions.length, nullCount: 0 };
      const buffers = [NONE, bytesOf(numbers), NONE, bytesOf(positions)].map(arrowBuffer);
      yield { rows: positions.length, nodes: [node, node], buffers };
    }
  }
}

/** Drops the task's table, which takes memory of the instance. */
export function dropPositions(connection: Connection, { files }: DeletedPositions): void {
  if (files.length > 0) connection.run(`DROP TABLE IF EXISTS temp.main.${POSITIONS_TABLE}`);
}

const NONE = new Uint8Array();

const bytesOf = (values: Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

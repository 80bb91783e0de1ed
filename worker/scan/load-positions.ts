import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import { ArrowInput } from '../duckdb/arrow-in.ts';
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

/** Puts the positions in their temporary table; a task without any has no table. */
export function loadPositions(connection: Connection, { files }: DeletedPositions): void {
  if (files.length === 0) return;
  const batches = files.map((positions, file) => {
    const numbers = new Int32Array(positions.length).fill(file);
    const node = { length: positions.length, nullCount: 0 };
    const buffers = [NONE, bytesOf(numbers), NONE, bytesOf(positions)].map(arrowBuffer);
    return { rows: positions.length, nodes: [node, node], buffers };
  });
  const fields = [column('file', 'i'), column('pos', 'l')];
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  using input = new ArrowInput(connection, { fields, dictionaries: [], rows, batches });
  input.createTable(POSITIONS_TABLE, ['INTEGER', 'BIGINT']);
}

/** The table is memory of the instance: it goes with its task. */
export function dropPositions(connection: Connection, { files }: DeletedPositions): void {
  if (files.length > 0) connection.run(`DROP TABLE IF EXISTS temp.main.${POSITIONS_TABLE}`);
}

const NONE = new Uint8Array();

const bytesOf = (values: Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

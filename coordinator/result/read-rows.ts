import { setImmediate } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import type { Encoding, ResultBatch, RowShape } from '../sink/result-sink.ts';
import { jsonPrinter } from './arrow-json.ts';
import { batchFormer } from './formed-batch.ts';
import type { KeptBatch } from './kept-result.ts';
import { batchSlicer } from './slice-batch.ts';

/** Rows that get another form in one turn of the event loop, and their values. */
const [ROWS_PER_TURN, VALUES_PER_TURN] = [2_000, 20_000];

/** Rows of a kept result: those from `first` (from 0) up to `end`; `isBackward`: the last one comes first. */
export type RowRange = { readonly first: number; readonly end: number; readonly isBackward: boolean };

type Reading = {
  readonly shape: RowShape;
  readonly encoding: Encoding;
  /** The batch that has a row. @throws STORAGE_ERROR */
  readonly batchAt: (row: number) => Promise<KeptBatch | undefined>;
};

/** Reads rows of a kept result, which has them all, in the form that a door asks for. */
export async function* readRows(
  { shape, encoding, batchAt }: Reading,
  { first, end, isBackward }: RowRange,
): AsyncGenerator<ResultBatch, void> {
  const read = reader(shape, encoding);
  if (isBackward) {
    for (let row = end - 1; row >= first; row -= 1) {
      const batch = must(await batchAt(row), 'the result has this row');
      yield* read(batch, row - batch.firstRow, row - batch.firstRow + 1);
      if ((end - row) % ROWS_PER_TURN === 0) await setImmediate();
    }
    return;
  }
  for (let row = first; row < end;) {
    const batch = must(await batchAt(row), 'the result has this row');
    const [from, to] = [row - batch.firstRow, Math.min(batch.rows, end - batch.firstRow)];
    yield* read(batch, from, to);
    row = batch.firstRow + to;
  }
}

type ReadBatch = (batch: ResultBatch, from: number, to: number) => AsyncGenerator<ResultBatch, void>;

function reader(shape: RowShape, encoding: Encoding): ReadBatch {
  if (encoding === 'json') return jsonPrinter(shape);
  if (encoding === 'arrow') {
    const cut = batchSlicer(shape);
    return async function* slice(batch, from, to) {
      yield await Promise.resolve(cut(batch, from, to));
    };
  }
  const form = batchFormer(shape, encoding);
  const turn = Math.max(1, Math.min(ROWS_PER_TURN, Math.floor(VALUES_PER_TURN / Math.max(1, shape.columns.length))));
  return async function* turns(batch, from, to) {
    for (let at = from; at < to; at += turn) {
      if (at > from) await setImmediate();
      yield form(batch, at, Math.min(to, at + turn));
    }
  };
}

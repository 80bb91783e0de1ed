import { setImmediate } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import type { ResultBatch } from '../../../sink/result-sink.ts';
import { arrowColumns } from './arrow-columns.ts';
import { cellsOf, cellLayout, type CellForm } from './cells.ts';
import type { Cells } from './data-rows.ts';

/** Values that are encoded in one turn of the event loop, and rows. */
const [TURN_VALUES, TURN_ROWS] = [100_000, 4_096];

/** Sends some rows, made column by column; resolves when more may come. */
type Send = (cells: readonly Cells[], rows: number) => Promise<void> | undefined;

/** Makes the values of a batch in turns, between which others are served. */
export function inTurns(batch: ResultBatch, forms: readonly CellForm[], send: Send): Promise<void> | undefined {
  const columns = arrowColumns(batch, forms.map(cellLayout));
  const values = columns.reduce(
    (sum, { offsets, items }) => sum + (items === null ? 0 : (offsets[batch.rows] ?? 0)),
    0,
  );
  const perRow = Math.max(1, columns.length + values / batch.rows);
  const turn = Math.max(1, Math.min(TURN_ROWS, Math.floor(TURN_VALUES / perRow)));
  const next = (from: number): Promise<void> | undefined => {
    const to = Math.min(from + turn, batch.rows);
    const cells = columns.map((column, i) => cellsOf(column, must(forms[i], 'each column has a form'), from, to));
    return send(cells, to - from);
  };
  const sent = next(0);
  return batch.rows <= turn ? sent : rest(next, { turn, rows: batch.rows }, sent);
}

async function rest(
  next: (from: number) => Promise<void> | undefined,
  { turn, rows }: { readonly turn: number; readonly rows: number },
  sent: Promise<void> | undefined,
): Promise<void> {
  await sent;
  for (let from = turn; from < rows; from += turn) {
    await setImmediate();
    await next(from);
  }
}

import type { Cell } from './grid-selection.ts';
import type { ResultSet } from './result-set.ts';

/** Rows that are looked through before the page may do something else. */
const ROWS_AT_ONCE = 2_000;

type Search = {
  readonly text: string;
  readonly from: Cell;
  readonly order: Uint32Array | null;
  readonly signal: AbortSignal;
};

/** The next cell that contains a text, in any case, behind a cell and then from the first row on. */
export async function findText(result: ResultSet, { text, from, order, signal }: Search): Promise<Cell | null> {
  const wanted = text.toLowerCase();
  const columns = result.columns.length;
  for (let step = 0; step <= result.rowCount && !signal.aborted; step += 1) {
    const row = (from.row + step) % result.rowCount;
    const first = step === 0 ? from.column + 1 : 0;
    for (let column = first; column < columns; column += 1) {
      const value = result.text(order?.[row] ?? row, column);
      if (value !== null && value.toLowerCase().includes(wanted)) return { row, column };
    }
    if (step % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve));
  }
  return null;
}

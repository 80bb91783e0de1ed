export type Cell = { readonly row: number; readonly column: number };
/** A range of cells: from where it was begun to where the keyboard is. */
export type Selection = { readonly anchor: Cell; readonly focus: Cell };
export type Extent = { readonly rows: number; readonly columns: number; readonly page: number };

export const cellAt = (row: number, column: number): Selection => ({ anchor: { row, column }, focus: { row, column } });

export const isWithin = ({ anchor, focus }: Selection, row: number, column: number): boolean =>
  row >= Math.min(anchor.row, focus.row) &&
  row <= Math.max(anchor.row, focus.row) &&
  column >= Math.min(anchor.column, focus.column) &&
  column <= Math.max(anchor.column, focus.column);

type Move = (focus: Cell, extent: Extent) => Cell;

const MOVES: Readonly<Record<string, Move>> = {
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  PageUp: ({ row, column }, { page }) => ({ row: row - page, column }),
  PageDown: ({ row, column }, { page }) => ({ row: row + page, column }),
  Home: ({ row }) => ({ row, column: 0 }),
  End: ({ row }, { columns }) => ({ row, column: columns - 1 }),
};
/** With Ctrl. */
const FAR_MOVES: Readonly<Record<string, Move>> = {
  Home: () => ({ row: 0, column: 0 }),
  End: (_focus, { rows, columns }) => ({ row: rows - 1, column: columns - 1 }),
  ArrowUp: ({ column }) => ({ row: 0, column }),
  ArrowDown: ({ column }, { rows }) => ({ row: rows - 1, column }),
  ArrowLeft: ({ row }) => ({ row, column: 0 }),
  ArrowRight: ({ row }, { columns }) => ({ row, column: columns - 1 }),
};

type Key = { readonly key: string; readonly shiftKey: boolean; readonly ctrlKey: boolean; readonly metaKey: boolean };

/** The selection behind a key; undefined for a key that moves nothing. */
export function moved(
  selection: Selection,
  { key, shiftKey, ctrlKey, metaKey }: Key,
  extent: Extent,
): Selection | undefined {
  const isFar = ctrlKey || metaKey;
  if (isFar && key.toLowerCase() === 'a') {
    return { anchor: { row: 0, column: 0 }, focus: { row: extent.rows - 1, column: extent.columns - 1 } };
  }
  const move = (isFar ? FAR_MOVES : MOVES)[key];
  if (move === undefined) return undefined;
  const { row, column } = move(selection.focus, extent);
  const focus = { row: clamp(row, extent.rows), column: clamp(column, extent.columns) };
  return { anchor: shiftKey ? selection.anchor : focus, focus };
}

const clamp = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));

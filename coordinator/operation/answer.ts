import { textColumns, type MadeColumn, type MadeRow } from '../binding/made-columns.ts';
import type { Warning } from '../sink/result-sink.ts';
import { onePage, type Pages } from '../catalog-client/pages.ts';

/** The answer of a statement without rows. */
export type Status = { readonly status: string; readonly tag: string; readonly warning?: Warning };

/** The result of a statement that the coordinator answers by itself: a few rows, in memory. */
export type Answer = { readonly columns: readonly MadeColumn[]; readonly rows: readonly MadeRow[] };

/** A result that comes in parts; each part is made in a turn of its own of the main thread. */
export type PagedAnswer = { readonly columns: readonly MadeColumn[]; readonly pages: Pages<MadeRow> };

/** A result whose columns are all VARCHAR. `RowForm` is for the others. */
export const textResult = (columns: readonly string[], rows: readonly (readonly (string | null)[])[]): Answer => ({
  columns: textColumns(columns),
  rows,
});

/** A result in pages whose columns are all VARCHAR. */
export const pagedTextResult = (columns: readonly string[], pages: Pages<readonly (string | null)[]>): PagedAnswer => ({
  columns: textColumns(columns),
  pages,
});

/** Turns an answer into a paged one of a single page. */
export const paged = ({ columns, rows }: Answer): PagedAnswer => ({ columns, pages: onePage(rows) });

/** The answer of a statement without rows. @param tag as in `ResultShape` */
export const statusResult = (status: string, tag = status): Status => ({ status, tag });

/** The answer of a statement that has done nothing, for this reason. */
export const warningResult = (tag: string, warning: Warning): Status => ({
  status: `${tag} (${warning.message})`,
  tag,
  warning,
});

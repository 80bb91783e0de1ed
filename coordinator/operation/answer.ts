import type { Json } from '#shared/json.ts';
import { onePage, type Pages } from '../catalog-client/pages.ts';
import type { OutputColumn } from '../sink/result-sink.ts';
import { textColumns } from '../sink/text-batch.ts';

/** The answer of a statement without rows. */
export type Status = { readonly status: string; readonly tag: string };

/** The result of a statement that the coordinator answers by itself: a few rows, in memory. */
export type Answer = { readonly columns: readonly OutputColumn[]; readonly rows: readonly (readonly Json[])[] };

/** A result that comes in parts; each part is made in a turn of its own of the main thread. */
export type PagedAnswer = { readonly columns: readonly OutputColumn[]; readonly pages: Pages<readonly Json[]> };

/** A result whose columns are all VARCHAR. */
export const textResult = (columns: readonly string[], rows: readonly (readonly Json[])[]): Answer => ({
  columns: textColumns(columns),
  rows,
});

/** A result in pages whose columns are all VARCHAR. */
export const pagedTextResult = (columns: readonly string[], pages: Pages<readonly Json[]>): PagedAnswer => ({
  columns: textColumns(columns),
  pages,
});

/** Turns an answer into a paged one of a single page. */
export const paged = ({ columns, rows }: Answer): PagedAnswer => ({ columns, pages: onePage(rows) });

/** The answer of a statement without rows. @param tag as in `ResultShape` */
export const statusResult = (status: string, tag = status): Status => ({ status, tag });

import type { WantedBytes } from '../objects/object-copy.ts';
import type { FileField, Footer, RowGroup } from './footer.ts';
import { rowBounds } from './row-bounds.ts';
import { bordersOf, bytesRead } from './segments.ts';

/** In a scan of more files no row groups are left out, because each file would be a branch of its own. */
const FILES_MAX = 32;

type Read = {
  /** The row groups of the task, and those of them whose statistics allow a match. */
  readonly groups: readonly RowGroup[];
  readonly kept: readonly RowGroup[];
  readonly fields: readonly FileField[];
  /** Files of the scan. */
  readonly files: number;
};

/**
 * The bytes of a file that DuckDB may read, and the conditions on row numbers that keep it from all others; undefined when the file has to be
 * there whole. DuckDB leaves out row groups by these conditions, by what it knows of the values besides, and never by other bytes than those of
 * the footer and of Bloom filters.
 */
export function neededOf(
  footer: Footer,
  { groups, kept, fields, files }: Read,
): { readonly bounds: readonly string[]; readonly bytes: WantedBytes } | undefined {
  const borders = bordersOf(footer);
  if (borders === undefined) return undefined;
  const read = files > FILES_MAX ? groups : neighbours(groups, kept);
  return { bounds: rowBounds(read, footer), bytes: { borders, ranges: bytesRead(footer, { groups: read, fields }) } };
}

/**
 * The row groups from the first that is kept to the last. Those between that are not kept are read, too: DuckDB leaves out row groups by two
 * bounds of their numbers, but not by many.
 */
function neighbours(groups: readonly RowGroup[], kept: readonly RowGroup[]): readonly RowGroup[] {
  const [first, last] = [kept[0], kept.at(-1)];
  if (first === undefined || last === undefined) return [];
  return groups.slice(groups.indexOf(first), groups.indexOf(last) + 1);
}

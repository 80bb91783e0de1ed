import { quoteIdentifier } from '#shared/sql/quote.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import { schemaOf, type ViewDefinition } from '../binding/view-definition.ts';
import type { MergedColumn } from './refresh-shape.ts';

/** An average of a materialized view, by the view's column, with the columns of its table that have the sum and the number of the values. */
export type KeptAverage = {
  readonly column: string;
  /** Digits behind the point of the values. */
  readonly scale: number;
  readonly sum: string;
  readonly count: string;
};

/**
 * The columns of a view of which parts are merged, as its query has them now, by their names. A view keeps the columns that it was made
 * with, also when the query gives more of them.
 * @param names of the query's columns
 * @returns null when the view does not show the whole key
 */
export function columnsOfView(
  view: Pick<ViewDefinition, 'schema'>,
  names: readonly string[],
  columns: readonly MergedColumn[],
): readonly MergedColumn[] | null {
  const places = new Map(names.map((name, i) => [foldIdentifier(name), i] as const).toReversed());
  const found = schemaOf(view).fields.map(({ name }) => places.get(foldIdentifier(name)) ?? -1);
  if (columns.some(({ kind }, i) => kind === 'key' && !found.includes(i))) return null;
  const shown = found.flatMap((place) => columns[place] ?? []);
  return shown.length === found.length ? shown : null;
}

/** Names the columns that are kept for each average. @returns null when a column of the view has such a name */
export function keptAverages(
  view: Pick<ViewDefinition, 'schema'>,
  columns: readonly MergedColumn[],
): readonly KeptAverage[] | null {
  const kept = schemaOf(view).fields.flatMap(({ name: column }, i) => {
    const merged = columns[i];
    if (merged?.kind !== 'average') return [];
    return [{ column, scale: merged.scale, sum: `_skein_sum_${i + 1}`, count: `_skein_count_${i + 1}` }];
  });
  const shown = new Set(schemaOf(view).fields.map(({ name }) => foldIdentifier(name)));
  return kept.some(({ sum, count }) => shown.has(sum) || shown.has(count)) ? null : kept;
}

/** The columns of the table, beside those of the view, with their types. */
export const keptColumns = (
  averages: readonly KeptAverage[],
): readonly { readonly name: string; readonly type: string }[] =>
  averages.flatMap(({ sum, count, scale }) => [
    { name: sum, type: `DECIMAL(38,${scale})` },
    { name: count, type: 'BIGINT' },
  ]);

/**
 * The rows of a view as its table has them: the view's columns with their types, each average from its sum and its count, and behind them
 * the sums and the counts. A full and an incremental refresh both compute an average here, so they give the same, to the last bit.
 * @param source what may stand in FROM
 */
export function storedRows(
  view: Pick<ViewDefinition, 'schema'>,
  averages: readonly KeptAverage[],
  source: string,
): string {
  const columns = schemaOf(view).fields.map((field) => {
    const name = quoteIdentifier(field.name);
    const average = averages.find(({ column }) => column === field.name);
    const value = average === undefined ? `"v".${name}` : meanOf(average);
    return `CAST(${value} AS ${printSqlType(fieldType(field).type)}) AS ${name}`;
  });
  const kept = keptColumns(averages).map(({ name, type }) => `CAST("v"."${name}" AS ${type}) AS "${name}"`);
  return `SELECT ${[...columns, ...kept].join(', ')} FROM ${source} AS "v"`;
}

/**
 * The mean as DuckDB computes it: the sum without its point, divided by the count times the power of ten. DuckDB divides in 80 bits, which
 * gives the same while the digits of the sum are below 2^53.
 */
function meanOf({ sum, count, scale }: KeptAverage): string {
  const digits = `CAST(replace(CAST("v"."${sum}" AS VARCHAR), '.', '') AS HUGEINT)`;
  return `CAST(${digits} AS DOUBLE) / (CAST("v"."${count}" AS DOUBLE) * 1e${scale})`;
}

import type { CallText } from './call-text.ts';

/** A step of a series of times: `'1 day'`. */
const STEP = /[a-z:]/i;

/**
 * Writes series as Postgres has them: a row for each value beside columns, and in FROM an alias that is the value.
 * ```
 * SELECT generate_series(1, 3) AS a        ->  SELECT unnest(generate_series(1, 3)) AS a
 * FROM generate_series(a, b, '1 day') AS d ->  FROM generate_series(a, b, INTERVAL '1 day') AS d(d)
 * ```
 */
export function writeSeries(
  text: CallText,
  { at, close, commas }: { readonly at: number; readonly close: number; readonly commas: readonly number[] },
): void {
  const step = commas[1] === undefined ? -1 : commas[1] + 1;
  if (text.isString(step) && step + 1 === close && STEP.test(text.string(step))) text.prepend(step, 'INTERVAL ');
  const alias = text.aliasBehind(close);
  if (text.isSource(at)) {
    if (alias !== undefined && text.isReadAlone(alias)) {
      text.append(alias, `("${text.name(alias).replaceAll('"', '""')}")`);
    }
    return;
  }
  if (!text.isColumn(at, close) && (alias === undefined || !text.isColumn(at, alias))) return;
  text.replace(at, 'unnest(generate_series');
  text.append(close, ')');
}

import { must } from '#shared/must.ts';
import type { PrintedText } from '../binding/planner.ts';

/** Returns the text that a planner binds in the place of a printed one: it has scans of ours, and subqueries instead of other tasks' rows. */
export const boundText = ({ sql, inputs }: Pick<PrintedText, 'sql' | 'inputs'>): string =>
  sql
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('scan' in part) return `skein_scan('${part.scan}')`;
      return inputOf(must(inputs[part.input], 'a text names its inputs'));
    })
    .join('');

/** Makes a subquery with columns of these types in place of an input: DuckDB does not treat its values as constant. */
const inputOf = (types: readonly string[]): string =>
  `(SELECT ${types.map((type, i) => `CAST(NULL AS ${type}) AS c${i}`).join(', ')})`;

import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { ParameterValue } from '../binding/planner.ts';

/** Name of the temporary prepared statement of a query with parameters. */
export const PARAMETER_STATEMENT = 'skein_parameters';

/** The EXECUTE with these values, and the value that stands at a byte of it. */
export function executeSql(values: readonly ParameterValue[]): {
  readonly sql: string;
  readonly valueAt: (byte: number | undefined) => ParameterValue | undefined;
} {
  const parts = values.map(({ name, text }) => `${quoteIdentifier(name)} := ${text}`);
  const head = `EXECUTE ${PARAMETER_STATEMENT}(`;
  const valueAt = (byte: number | undefined): ParameterValue | undefined => {
    if (byte === undefined || byte < head.length) return undefined;
    let end = head.length;
    return values.find((_, i) => {
      end += Buffer.byteLength(must(parts[i], 'a part for each value')) + 2;
      return byte < end;
    });
  };
  return { sql: `${head}${parts.join(', ')})`, valueAt };
}

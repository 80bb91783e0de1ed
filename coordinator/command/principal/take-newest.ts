import { PAGE_ROWS_MAX } from '#shared/principal/principal-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';

/** Rows of a list that begins with the newest, without LIMIT. */
const ROWS = 50;

/** `LIMIT n` of a list that begins with the newest. @throws SYNTAX_ERROR */
export function takeNewest(reader: StatementReader): number {
  const limit = reader.takeWord('LIMIT') ? Number(reader.takeNumber() ?? Number.NaN) : ROWS;
  if (Number.isInteger(limit) && limit >= 1 && limit < PAGE_ROWS_MAX) return limit;
  throw reader.error('SYNTAX_ERROR', `LIMIT is 1 to ${PAGE_ROWS_MAX - 1}`);
}

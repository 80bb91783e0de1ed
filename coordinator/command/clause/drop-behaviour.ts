import type { StatementReader } from '../../statement/statement-reader.ts';

/**
 * `CASCADE` and `RESTRICT`, which clients of Postgres write behind a table or a view, change nothing: no key of another table refers to one, and a
 * view does not end with what it reads.
 */
export function skipDropBehaviour(reader: StatementReader): void {
  if (!reader.takeWord('CASCADE')) reader.takeWord('RESTRICT');
}

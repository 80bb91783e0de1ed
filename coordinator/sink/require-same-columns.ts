import { SkeinError } from '#shared/error.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';

/**
 * Refuses a query that was planned again, because a snapshot or a right has gone while it waited for its place, and now has other columns
 * than were told: its rows would be others than their receiver expects. @throws COLUMNS_CHANGED
 */
export function requireSameColumns(before: readonly SqlField[], now: readonly SqlField[]): void {
  const isSame =
    before.length === now.length &&
    before.every(({ name, type }, i) => {
      const other = now[i];
      return other !== undefined && other.name === name && printSqlType(other.type) === printSqlType(type);
    });
  if (isSame) return;
  throw new SkeinError(
    'COLUMNS_CHANGED',
    'a table was altered while the statement waited for its place: its columns are others now',
  );
}

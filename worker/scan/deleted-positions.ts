/** Name of the temporary table of a task's deleted positions: (file INTEGER, pos BIGINT). */
export const POSITIONS_TABLE = 'skein_deleted_positions';

/** Positions that deletion vectors delete, by a number for each data file; the slot puts them in a table before the statement runs. */
export class DeletedPositions {
  readonly table = `temp.main.${POSITIONS_TABLE}`;
  readonly files: BigInt64Array[] = [];

  /** The number under which these positions stand in the table. */
  add(positions: BigInt64Array): number {
    return this.files.push(positions) - 1;
  }
}

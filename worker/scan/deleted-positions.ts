import { SkeinError } from '#shared/error.ts';

/** Name of the temporary table of a task's deleted positions: (file INTEGER, pos BIGINT). */
export const POSITIONS_TABLE = 'skein_deleted_positions';

/**
 * Positions that deletion vectors delete, by a number for each data file; the slot puts them in a table before the statement runs. DuckDB's
 * limit does not count them while they are here, and a vector of a kilobyte may hold millions: so they have a limit of their own.
 */
export class DeletedPositions {
  readonly table = `temp.main.${POSITIONS_TABLE}`;
  readonly files: BigInt64Array[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax for all of the task's */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Before there is anything in them. @throws OUT_OF_MEMORY when it is too much for the task's memory */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    throw new SkeinError(
      'OUT_OF_MEMORY',
      `the deletion vectors that a task reads take more than ${this.#bytesMax} bytes, which is its share of memory for them`,
    );
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** The number under which these positions, for which there was room, stand in the table. */
  add(positions: BigInt64Array): number {
    return this.files.push(positions) - 1;
  }
}

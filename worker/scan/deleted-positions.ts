import { SkeinError } from '#shared/error.ts';

/** Name of the temporary table of a task's deleted positions: (file INTEGER, pos BIGINT). */
export const POSITIONS_TABLE = 'skein_deleted_positions';

/**
 * Positions that deletion vectors delete, under a number for each data file; the slot loads them into a table before the statement runs.
 * They have a limit of their own, because DuckDB's does not count them here, and a vector of a kilobyte may hold millions.
 */
export class DeletedPositions {
  readonly table = `temp.main.${POSITIONS_TABLE}`;
  readonly files: BigInt64Array[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax limit for all positions of the task, in bytes */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts bytes before they are allocated. @throws OUT_OF_MEMORY when they exceed the limit */
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

  /** Adds positions that `reserve` has counted. Returns their file number in the table. */
  add(positions: BigInt64Array): number {
    return this.files.push(positions) - 1;
  }
}

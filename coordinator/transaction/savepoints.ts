import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/** Savepoints of one transaction; each keeps what it noted in memory. */
const SAVEPOINTS_MAX = 1_000;

/** The savepoints of a transaction, the oldest first, each with what the transaction had done by then. A name may be given again: the newest counts. */
export class Savepoints<T> {
  #points: { readonly name: string; readonly mark: T }[] = [];

  get isEmpty(): boolean {
    return this.#points.length === 0;
  }

  /** @throws TRANSACTION_TOO_LARGE */
  add(name: string, mark: T): void {
    if (this.#points.length >= SAVEPOINTS_MAX) {
      throw new SkeinError('TRANSACTION_TOO_LARGE', `the transaction has more than ${SAVEPOINTS_MAX} savepoints`);
    }
    this.#points.push({ name: foldIdentifier(name), mark });
  }

  /** Forgets a savepoint and those behind it. @throws SAVEPOINT_NOT_FOUND */
  release(name: string): void {
    this.#points = this.#points.slice(0, this.#find(name));
  }

  /** Goes back to a savepoint, which stays; those behind it are forgotten. @throws SAVEPOINT_NOT_FOUND */
  goBack(name: string): T {
    const at = this.#find(name);
    this.#points = this.#points.slice(0, at + 1);
    return (this.#points[at] as { readonly mark: T }).mark;
  }

  clear(): void {
    this.#points = [];
  }

  #find(name: string): number {
    const folded = foldIdentifier(name);
    const at = this.#points.findLastIndex((point) => point.name === folded);
    if (at < 0) {
      throw new SkeinError(
        'SAVEPOINT_NOT_FOUND',
        `the transaction has no savepoint ${JSON.stringify(name.slice(0, 200))}`,
      );
    }
    return at;
  }
}

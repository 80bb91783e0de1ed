import { SkeinError } from '#shared/error.ts';
import type { TextRows } from '../command/command.ts';

/** Longest text of the values of one expression of a PIVOT, because they become a part of the query. */
const PIVOT_VALUES_BYTES_MAX = 2 ** 20;

/** The values that a PIVOT needs, or the answer to a question of a statement's own. */
export class BoundedValues implements TextRows {
  values: string[] = [];
  #bytes = 0;

  start(): void {
    this.values = [];
    this.#bytes = 0;
  }

  /** @throws STATEMENT_TOO_COMPLEX for values that are too long */
  add(texts: readonly string[]): void {
    for (const text of texts) this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > PIVOT_VALUES_BYTES_MAX) {
      throw new SkeinError(
        'STATEMENT_TOO_COMPLEX',
        `the values of the PIVOT have more than ${PIVOT_VALUES_BYTES_MAX} bytes`,
      );
    }
    this.values.push(...texts);
  }
}

import { SkeinError } from '#shared/error.ts';
import type { TextRows } from './queries.ts';

/** Longest text of the values of one question: those of a PIVOT's expression, or the columns of a file, become a part of the query. */
const VALUES_BYTES_MAX = 2 ** 20;

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
    if (this.#bytes > VALUES_BYTES_MAX) {
      throw new SkeinError(
        'STATEMENT_TOO_COMPLEX',
        `what the statement asks for itself (the values of a PIVOT, the columns of a file) has more than ${VALUES_BYTES_MAX} bytes`,
      );
    }
    this.values.push(...texts);
  }
}

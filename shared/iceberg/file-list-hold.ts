import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { tooComplex } from './decode-limits.ts';

/** Memory of one file of a scan, without its path. */
const FILE_BYTES = 400;

/** The memory that one query holds for lists of files; disposing it releases the memory. */
export class FileListHold implements Disposable {
  readonly #budget: ByteBudget;
  readonly #owner: string;
  #bytes = 0;

  constructor(budget: ByteBudget, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /** @throws TABLE_DATA_TOO_COMPLEX when it is more than any query may hold, QUEUE_FULL when running queries hold too much */
  add(files: number, pathBytes: number): void {
    const bytes = files * FILE_BYTES + pathBytes;
    const { bytesMaxOfOwner } = this.#budget;
    if (this.#bytes + bytes > bytesMaxOfOwner) {
      throw tooComplex(`the lists of the files that a query scans take more than ${bytesMaxOfOwner} bytes`);
    }
    if (!this.#budget.take(this.#owner, bytes)) {
      throw new SkeinError('QUEUE_FULL', 'the queries that run scan too many files');
    }
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    this.#budget.give(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}

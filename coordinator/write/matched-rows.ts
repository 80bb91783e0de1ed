import { SkeinError } from '#shared/error.ts';
import { PositionSet } from '#shared/iceberg/position-set.ts';
import { printPositions } from '#shared/iceberg/print-positions.ts';
import { targetSource } from './target-name.ts';
import type { TextRows } from '../operation/queries.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { MatchingRows } from '../operation/row-write.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { AsProven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';

/** Largest answer: the positions of more than 600 million rows that lie together, of 700,000 that lie far apart. */
const ANSWER_BYTES_MAX = 128 * 2 ** 20;

/**
 * Prints the query that finds the rows for which a condition holds: which files, which positions. It runs where the files are read.
 * A row that several rows of other tables match comes as often, and goes once.
 */
export function matchQuery(
  target: Pick<WriteTarget, 'name' | 'branch'>,
  matching: Omit<MatchingRows<AsProven>, 'table'>,
): DerivedText {
  const { qualifier: t } = targetSource(target, matching.alias);
  const [before, after] = printPositions({ file: `${t}._file`, pos: `${t}._pos`, isReplaced: 'false' });
  const text = new SplicedText(matching.rest).insert(before);
  printMatching(text, target, matching);
  return text.insert(after);
}

/** Prints FROM and WHERE. @param text of the statement's `rest` */
export function printMatching(
  text: SplicedText,
  target: Pick<WriteTarget, 'name' | 'branch'>,
  { alias, from, where }: Pick<MatchingRows<AsProven>, 'alias' | 'from' | 'where'>,
): void {
  text.insert(`FROM ${targetSource(target, alias).source}`);
  if (from !== null) text.insert(', ').splice(from);
  if (where !== null) text.insert(' WHERE (').splice(where).insert(')');
}

/** The rows that were found: positions by the path of their file. */
export class MatchedRows implements TextRows {
  readonly files = new Map<string, PositionSet>();
  /** Those of them that no other row takes the place of. */
  readonly deleted = new Map<string, PositionSet>();
  #bytes = 0;
  #rows = 0;
  #replaced = 0;

  /** Number of rows that came; one that came twice counts twice. */
  get rows(): number {
    return this.#rows;
  }

  /** Number of rows that another one takes the place of. */
  get replaced(): number {
    return this.#replaced;
  }

  /** Number of different rows. */
  get size(): number {
    return this.files.values().reduce((sum, { size }) => sum + size, 0);
  }

  start(): void {
    this.files.clear();
    this.deleted.clear();
    this.#bytes = 0;
    this.#rows = 0;
    this.#replaced = 0;
  }

  /** @throws STATEMENT_TOO_COMPLEX for too many rows */
  add(texts: readonly string[]): void {
    for (const text of texts) {
      this.#bytes += text.length;
      if (this.#bytes > ANSWER_BYTES_MAX) {
        throw new SkeinError(
          'STATEMENT_TOO_COMPLEX',
          `the positions of the rows take more than ${ANSWER_BYTES_MAX} bytes: divide the statement by its condition`,
        );
      }
      const [file, buckets, bits, rows, replaced] = JSON.parse(text) as [string, number[], string[], number, number];
      this.#rows += rows;
      this.#replaced += replaced;
      for (const among of replaced === 0 ? [this.files, this.deleted] : [this.files]) {
        const positions = among.get(file) ?? new PositionSet();
        among.set(file, positions);
        for (const [i, bucket] of buckets.entries()) positions.addBits(bucket, Buffer.from(bits[i] ?? '', 'base64'));
      }
    }
  }
}

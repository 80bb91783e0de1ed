import { SkeinError } from '#shared/error.ts';
import { BUCKET_POSITIONS, PositionSet } from '#shared/iceberg/position-set.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { Delete, TextRows, WriteTarget } from '../command/command.ts';
import { DerivedText } from '../statement/derived-text.ts';

/** Buckets that one row of the answer has at most. */
const ROW_BUCKETS = 1_024;
/** Largest answer: the positions of more than 600 million rows that lie together, of 700,000 that lie far apart. */
const ANSWER_BYTES_MAX = 128 * 2 ** 20;

/**
 * Prints the query that finds the rows for which a condition holds: which files, which positions. Its rows are
 * `[file, [bucket, ...], [bits in base64, ...]]`, and it runs where the files are read.
 * @param where the text of the condition, which is a part of the statement
 */
export function matchQuery({ name }: Pick<WriteTarget, 'name'>, { alias, where }: Omit<Delete, 'table'>): DerivedText {
  const t = quoteIdentifier(alias ?? name.table);
  const table = [name.catalog, schemaName(name.namespace), name.table].map(quoteIdentifier).join('.');
  const bits = `bitstring_agg(CAST(${t}._pos % ${BUCKET_POSITIONS} AS INTEGER), 0, ${BUCKET_POSITIONS - 1})`;
  const buckets = `SELECT ${t}._file AS f, ${t}._pos // ${BUCKET_POSITIONS} AS b, base64(CAST(${bits} AS BLOB)) AS m FROM ${table} AS ${t}`;
  const text = new DerivedText(where?.text ?? '').insert(
    `SELECT CAST(json_array(f, list(b), list(m)) AS VARCHAR) AS r FROM (${buckets}`,
  );
  if (where !== null) text.insert(' WHERE (').slice(0, where.text.length, new Map()).insert('\n)');
  return text.insert(` GROUP BY 1, 2) GROUP BY f, b // ${ROW_BUCKETS}`);
}

/** The rows that were found: positions by the path of their file. */
export class MatchedRows implements TextRows {
  readonly files = new Map<string, PositionSet>();
  #bytes = 0;

  /** Number of all rows. */
  get size(): number {
    return this.files.values().reduce((sum, { size }) => sum + size, 0);
  }

  start(): void {
    this.files.clear();
    this.#bytes = 0;
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
      const [file, buckets, bits] = JSON.parse(text) as [string, number[], string[]];
      const positions = this.files.get(file) ?? new PositionSet();
      this.files.set(file, positions);
      for (const [i, bucket] of buckets.entries()) positions.addBits(bucket, Buffer.from(bits[i] ?? '', 'base64'));
    }
  }
}

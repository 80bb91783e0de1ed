import { BUCKET_POSITIONS } from './position-set.ts';

/** Buckets that one row of the answer has at most. */
const ROW_BUCKETS = 1_024;

/** The expressions of a row's address. */
type Address = {
  readonly file: string;
  readonly pos: string;
  /** Whether another row takes its place. */
  readonly isReplaced: string;
};

/**
 * The two halves of a query for the positions of rows, between which the text from FROM on stands. Its rows are JSON texts
 * `[file, [bucket, ...], [bits in base64, ...], rows, replaced rows]`, as `PositionSet.addBits` takes them; a row that comes twice counts twice in `rows`.
 * Either all rows of a text are replaced, or none.
 */
export function printPositions({ file, pos, isReplaced }: Address): readonly [before: string, after: string] {
  const bits = `bitstring_agg(CAST(${pos} % ${BUCKET_POSITIONS} AS INTEGER), 0, ${BUCKET_POSITIONS - 1})`;
  const columns = [
    `${file} AS f`,
    `${pos} // ${BUCKET_POSITIONS} AS b`,
    `base64(CAST(${bits} AS BLOB)) AS m`,
    'count(*) AS n',
    `${isReplaced} AS w`,
  ];
  const values = [
    'f',
    'list(b)',
    'list(m)',
    'CAST(sum(n) AS BIGINT)',
    'CAST(sum(CASE WHEN w THEN n ELSE 0 END) AS BIGINT)',
  ];
  return [
    `SELECT CAST(json_array(${values.join(', ')}) AS VARCHAR) AS r FROM (SELECT ${columns.join(', ')} `,
    ` GROUP BY 1, 2, 5) GROUP BY f, b // ${ROW_BUCKETS}, w`,
  ];
}

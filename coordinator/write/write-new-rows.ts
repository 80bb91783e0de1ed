import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import type { Returning } from '../operation/queries.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { Assignment } from './assign-columns.ts';
import { MatchedRows } from './matched-rows.ts';
import { planChanges } from './plan-changes.ts';
import {
  snapshotChangeOf,
  modeOf,
  requireSame,
  writeChanges,
  type Replaced,
  type RowServices,
} from './replace-rows.ts';
import { costOf, deletedFiles, rowsOf as countOf, writtenFiles } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';

/** A query of new rows, each with the address of the row whose place it takes. */
type NewRows = {
  readonly verb: 'update' | 'merge';
  readonly name: ObjectName;
  readonly target: WriteTarget;
  /** Every file of the snapshot. */
  readonly all: readonly ScanFile[];
  readonly query: TextSpan;
  /** Its last three columns are those of `TableSink.addresses`. */
  readonly text: DerivedText;
  readonly assignments: readonly Assignment[];
  /** Null without RETURNING. */
  readonly returning: Returning | null;
  /** @throws TYPE_MISMATCH */
  readonly check: (given: readonly SqlField[]) => void;
};

/**
 * Puts new rows in the place of others, in one snapshot; none when there is no row.
 * @returns the number of rows that go, change and come
 * @throws CARDINALITY_VIOLATION when a row goes or changes twice
 */
export async function writeNewRows(rowsOf: NewRows, services: RowServices): Promise<WriteOutcome> {
  const { queries, begin } = services;
  const { verb, name, target, all, query, text, assignments, check, returning } = rowsOf;
  const rows = await queries.planWrite(query, text, 'addressed');
  check(rows.columns);
  await using write = await begin(target);
  const { schema } = rewriteQuery(target);
  const { files: added, replaced = [], ...cost } = await write.run(rows, { assignments, schema, isAddressed: true });
  const matched = new MatchedRows();
  matched.add(replaced);
  if (matched.rows > matched.size) throw twice();
  const count = matched.size + countOf(added) - matched.replaced;
  if (count === 0) {
    const read = await returning?.read([], 0);
    await write.end(null, { files: [] });
    return { count, ...costOf(cost, read) };
  }
  await requireSame(name, target, services);
  const { formatVersion } = target.base;
  const changes = planChanges(all, matched.files, { mode: modeOf(target, verb), formatVersion });
  const deleted = returning === null ? [] : await deletedFiles(all, matched.deleted, write);
  const inPlace: Replaced = { target, all, changes };
  const { deletes, files: rewritten, ...costInPlace } = await writeChanges(inPlace, write, queries);
  const read = await returning?.read([...writtenFiles(target, added), ...deleted], count);
  const others = deletes.map(({ path }) => path);
  await write.end(snapshotChangeOf(inPlace, { deletes, rewritten, added }, verb), {
    files: [...added, ...rewritten],
    others,
  });
  return { count, ...costOf(cost, costInPlace, read) };
}

const twice = (): SkeinError =>
  new SkeinError('CARDINALITY_VIOLATION', 'a row of the table matches more than one row of the other tables');

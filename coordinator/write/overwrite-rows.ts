import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { partitionJson } from '#shared/iceberg/address-facts.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { partitionTypes } from '#shared/iceberg/write/manifest-rows.ts';
import { printJson } from '#shared/json.ts';
import { requireUnpoliced } from '../operation/policed-table.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import type { Insert } from '../operation/row-write.ts';
import type { AsProven } from '../statement/proven.ts';
import { assignColumns, insertedRows } from './assign-columns.ts';
import { costOf, planReturning, rowsOf, writtenFiles } from './returned-rows.ts';
import { snapshotChangeOf, requireSame, snapshotFiles, withRestarts, type RowServices } from './replace-rows.ts';

/**
 * Puts the rows of a query in the place of those of the partitions that get rows (Iceberg's ReplacePartitions), in one snapshot:
 * ```
 * files of the snapshot ─▶ query ─▶ new files ─▶ the old files of their partitions go ─▶ one commit
 * ```
 * In a table without partitions all files go, also when the query has no row. It is serializable, as a DELETE of these partitions.
 */
export const overwriteRows = (insert: Insert<AsProven>, services: RowServices): Promise<WriteOutcome> =>
  withRestarts(services, () => overwriteOnce(insert, services));

async function overwriteOnce(insert: Insert<AsProven>, services: RowServices): Promise<WriteOutcome> {
  const { queries } = services;
  const { table: name, target: into, query } = insert;
  const target = await services.target(name);
  requireUnpoliced(target, 'INSERT OVERWRITE', name.position);
  const { fields } = target.schema;
  const text = insertedRows(insert, fields);
  const all = await snapshotFiles(target, queries);
  if (isPartitioned(target)) requireOneSpec(target, all, name.position);
  const returning = await planReturning(insert, target, { queries, of: 'written' });
  const rows = await queries.planWrite(query, text);
  const assignments = assignColumns({ fields, target: into, columns: rows.columns, position: query.offset });
  await using write = await services.begin(target);
  const { files, ...cost } = await write.run(rows, { assignments });
  await requireSame(name, target, services);
  const changes = replacedFiles(target, all, files).map((file) => ({ kind: 'remove', file }) as const);
  const read = await returning?.read(writtenFiles(target, files), rowsOf(files));
  const parts = { deletes: [], rewritten: [], added: files };
  const isNone = changes.length + files.length === 0;
  await write.end(isNone ? null : snapshotChangeOf({ target, all, changes }, parts, 'delete', 'overwrite'), { files });
  return { count: rowsOf(files), ...costOf(cost, read) };
}

const isPartitioned = ({ spec }: WriteTarget): boolean =>
  spec.fields.some(({ transform }) => transform.kind !== 'void');

/** @throws NOT_SUPPORTED for files of another spec: which of their rows are in a partition of this one is not known */
function requireOneSpec({ spec }: WriteTarget, all: readonly ScanFile[], position: number): void {
  const other = all.filter(({ specId }) => specId !== spec.specId).length;
  if (other === 0) return;
  throw new SkeinError(
    'NOT_SUPPORTED',
    `${other} files of the table have partitions of an older kind: an UPDATE of their rows brings them into those of now`,
    { position },
  );
}

/** The files of the partitions that get rows; all files of a table without partitions. */
function replacedFiles(
  target: WriteTarget,
  all: readonly ScanFile[],
  added: readonly NewDataFile[],
): readonly ScanFile[] {
  if (!isPartitioned(target)) return all;
  const { schema, spec } = target;
  const partitioning = { spec, types: partitionTypes(schema, spec) };
  const partitions = new Set(added.map((file) => printJson(partitionJson(file, partitioning))));
  return all.filter(({ partition = {} }) => partitions.has(printJson(partition)));
}

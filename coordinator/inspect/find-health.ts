import { expiredSnapshots, expiryDefaults } from '#shared/iceberg/expired-snapshots.ts';
import { isTooMuch, SIZE_ENDS, type FileSums, type Sum } from '#shared/iceberg/sum-files.ts';
import { distinctCountsOf, currentSchema } from '#shared/iceberg/table-metadata.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';

export const FINDINGS = ['small_files', 'delete_files', 'many_manifests', 'old_snapshots', 'no_statistics'] as const;

/** Something about a table that a statement mends. */
export type Finding = {
  readonly code: (typeof FINDINGS)[number];
  readonly figures: Readonly<Record<string, number>>;
  readonly statement: string;
};

/** Data files below this size are small, as OPTIMIZE takes them to be: a class of `SIZE_ENDS`, of 64 MiB. */
const SMALL_BELOW = 64 * 2 ** 20;
/** Fewer small files cost nobody anything. */
const SMALL_FILES_MIN = 10;
/** From this share of a table's files on. */
const SMALL_SHARE_MIN = 0.5;
/** Manifests from which on a plan reads many, when they are small. */
const MANIFESTS_MIN = 50;
const MANIFEST_BYTES_SMALL = 2 ** 20;
/** Delete files of this share of the data files. */
const DELETES_SHARE_MIN = 0.05;
/** Rows from which on statistics change a plan. */
const ROWS_MIN = 100_000;

type Known = { readonly sums: FileSums | null; readonly bookmarkKeys: readonly string[]; readonly nowMs: number };

/** The faults of a table, worst first. A figure is what was counted, never an estimate. */
export function findHealth(table: FoundTable, { sums, bookmarkKeys, nowMs }: Known): readonly Finding[] {
  const name = sqlName(table);
  return [
    ...(sums === null ? [] : ofFiles(sums, name)),
    ...ofSnapshots(table, { name, bookmarkKeys, nowMs }),
    ...ofStatistics(table, { name, rows: sums?.data.rows ?? 0 }),
  ];
}

const sqlName = ({ name }: FoundTable): string =>
  [name.catalog, name.namespace.join('.'), name.table].map(quoteIdentifier).join('.');

function* ofFiles(sums: FileSums, name: string): Generator<Finding> {
  const { data, sizes } = sums;
  const small = sizes.filter((_sum, i) => (SIZE_ENDS[i] ?? Infinity) <= SMALL_BELOW).reduce(plus, NOTHING);
  if (small.files >= SMALL_FILES_MIN && small.files >= SMALL_SHARE_MIN * data.files) {
    const figures = { files: small.files, bytes: small.bytes, of_files: data.files, below_bytes: SMALL_BELOW };
    yield { code: 'small_files', figures, statement: `OPTIMIZE ${name}` };
  }
  const deletes = [sums.positionDeletes, sums.equalityDeletes, sums.deletionVectors].reduce(plus, NOTHING);
  if (deletes.files > 0 && deletes.files >= DELETES_SHARE_MIN * data.files) {
    const figures = { files: deletes.files, rows: deletes.rows, bytes: deletes.bytes, of_files: data.files };
    yield { code: 'delete_files', figures, statement: `OPTIMIZE ${name}` };
  }
  const { manifests, bytes } = sums.dataManifests;
  if (manifests >= MANIFESTS_MIN && bytes / manifests < MANIFEST_BYTES_SMALL) {
    const statement = `ALTER TABLE ${name} EXECUTE optimize_manifests`;
    yield { code: 'many_manifests', figures: { manifests, bytes }, statement };
  }
}

type ExpiryPlace = { readonly name: string; readonly bookmarkKeys: readonly string[]; readonly nowMs: number };

function* ofSnapshots({ metadata }: FoundTable, { name, bookmarkKeys, nowMs }: ExpiryPlace): Generator<Finding> {
  const statement = `ALTER TABLE ${name} EXECUTE expire_snapshots`;
  try {
    const { snapshotIds, refs } = expiredSnapshots(metadata, expiryDefaults(metadata, bookmarkKeys), nowMs);
    const figures = { expired: snapshotIds.length, expired_refs: refs.length, snapshots: metadata.snapshots.size };
    if (snapshotIds.length > 0 || refs.length > 0) yield { code: 'old_snapshots', figures, statement };
  } catch (error) {
    // Which of so many have expired, the statement finds out.
    if (!isTooMuch(error)) throw error;
  }
}

function* ofStatistics(
  { metadata }: FoundTable,
  { name, rows }: { readonly name: string; readonly rows: number },
): Generator<Finding> {
  if (rows < ROWS_MIN || distinctCountsOf(metadata, metadata.currentSnapshotId).size > 0) return;
  const figures = { rows, columns: currentSchema(metadata).fields.length };
  yield { code: 'no_statistics', figures, statement: `ANALYZE ${name}` };
}

const NOTHING: Sum = { files: 0, rows: 0, bytes: 0 };
const plus = (a: Sum, b: Sum): Sum => ({ files: a.files + b.files, rows: a.rows + b.rows, bytes: a.bytes + b.bytes });

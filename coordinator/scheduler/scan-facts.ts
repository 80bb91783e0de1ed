import { columnStats } from '#shared/iceberg/manifest.ts';
import { planEntries, type PlannedEntry } from '#shared/iceberg/plan-files.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import type { ColumnFacts, ScanFacts } from '../distributor/fragment.ts';
import type { ScanBinding } from '../resolver/scan-binding.ts';
import type { PlannedScan, ScanContext } from './plan-scans.ts';

/** Files whose statistics are looked at; a scan of more has none. */
const FILES_MAX = 20_000;
const MICROS_PER_DAY = 86_400_000_000;

/** What the manifests say of the scans that a query reads; they lie in the cache, because the scans have been planned. */
export function scanFacts(
  bindings: readonly ScanBinding[],
  scans: readonly PlannedScan[],
  context: ScanContext,
): Promise<ScanFacts[]> {
  return Promise.all(
    bindings.map(async (binding, i) => {
      const { rows = 0, bytes = 0 } = scans[i]?.report ?? {};
      const files = scans[i]?.spec.files.length ?? 0;
      const columns = files === 0 || files > FILES_MAX ? [] : await columnFacts(binding, rows, context);
      return { rows, bytes, files, columns };
    }),
  );
}

async function columnFacts(
  { metadata, snapshotId, predicate, allowedRoots, columns, readFieldIds }: ScanBinding,
  rows: number,
  { io, manifestCache, signal }: ScanContext,
): Promise<readonly ColumnFacts[]> {
  if (snapshotId === null) return [];
  const options = { manifestCache, allowedRoots, signal };
  const entries = await planEntries(io, metadata, BigInt(snapshotId), predicate, options);
  const read = new Set(readFieldIds);
  return columns.map(({ fieldId }) => {
    const type = metadata.fields.get(fieldId)?.type;
    return type === undefined || !read.has(fieldId) ? UNKNOWN : factsOf(entries, fieldId, type, rows);
  });
}

const UNKNOWN: ColumnFacts = { distinctMax: null, nulls: null };

function factsOf(entries: readonly PlannedEntry[], fieldId: number, type: IcebergType, rows: number): ColumnFacts {
  let lower: number | null = Number.POSITIVE_INFINITY;
  let upper: number | null = Number.NEGATIVE_INFINITY;
  let nulls: number | null = 0;
  for (const { file } of entries) {
    const stats = columnStats(file.stats, fieldId, type);
    const [low, high] = [numberOf(stats.lower, type), numberOf(stats.upper, type)];
    // A file of nothing but NULLs has no bounds.
    const isBare = stats.nullCount !== undefined && stats.nullCount === file.recordCount;
    lower = lower === null || (low === null && !isBare) ? null : Math.min(lower, low ?? lower);
    upper = upper === null || (high === null && !isBare) ? null : Math.max(upper, high ?? upper);
    nulls = nulls === null || stats.nullCount === undefined ? null : nulls + stats.nullCount;
    if (lower === null && upper === null && nulls === null) break;
  }
  const isKnown = lower !== null && upper !== null && lower <= upper;
  const isDiscrete = type.kind === 'int' || type.kind === 'long' || type.kind === 'date';
  const distinctMax = isKnown && isDiscrete ? Math.min(rows, (upper ?? 0) - (lower ?? 0) + 1) : null;
  return { distinctMax, nulls, lower: isKnown ? lower : null, upper: isKnown ? upper : null };
}

/** How many units of the stored integer make one of the number. */
const UNITS: Readonly<Partial<Record<IcebergType['kind'], number>>> = {
  int: 1,
  long: 1,
  date: 1,
  timestamp: MICROS_PER_DAY,
  timestamptz: MICROS_PER_DAY,
};

/** A bound as a number that estimates can reckon with; null for types without one. */
function numberOf(value: Literal | undefined, type: IcebergType): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const unit = type.kind === 'decimal' ? 10 ** type.scale : UNITS[type.kind];
  return typeof value === 'bigint' && unit !== undefined ? Number(value) / unit : null;
}

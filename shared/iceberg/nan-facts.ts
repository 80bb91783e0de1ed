import type { ScanFile } from './scan-file.ts';
import type { Steps } from './decode-limits.ts';
import type { DataFile } from './manifest.ts';
import { walkFields, type Field } from './type.ts';

/** Returns the ids of all fields of REAL and DOUBLE in the columns. */
export const floatIds = (columns: readonly Field[]): ReadonlySet<number> =>
  new Set(
    [...walkFields(columns)].filter(({ type }) => type.kind === 'float' || type.kind === 'double').map(({ id }) => id),
  );

/** Names the fields, of those of REAL and DOUBLE, that hold no NaN in a file, as its manifest says. */
export function nanFacts(
  { stats: { nanCounts } }: Pick<DataFile, 'stats'>,
  floats: ReadonlySet<number>,
  steps: Steps,
): Pick<ScanFile, 'withoutNan'> {
  if (floats.size === 0 || nanCounts === undefined) return {};
  steps.spend(nanCounts.steps);
  const withoutNan: number[] = [];
  for (const [id, count] of nanCounts.pairs()) {
    if (typeof id === 'number' && count === 0 && floats.has(id)) withoutNan.push(id);
  }
  return withoutNan.length === 0 ? {} : { withoutNan };
}

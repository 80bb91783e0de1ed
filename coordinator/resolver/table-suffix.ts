import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { METADATA_TABLES, type MetadataTable } from '../binding/metadata-table.ts';
import type { TimeTravel } from '../binding/query-references.ts';

/** The table, and what its name asks for: a branch or tag, a metadata table, or a metadata table of a branch or tag. */
export type SuffixedName = {
  readonly table: string;
  readonly travel: TimeTravel | null;
  readonly metadataTable: MetadataTable | null;
};

/**
 * The meaning of a name when no table has all of it as its name; undefined for a name without a suffix.
 *
 *     orders@june          table orders at its branch or tag june
 *     orders$files         the metadata table `files` of orders
 *     orders@june$files    the files of orders at june
 */
export function suffixedName(name: string, location: number): SuffixedName | undefined {
  const dollar = name.lastIndexOf('$');
  const word = dollar < 0 ? '' : foldIdentifier(name.slice(dollar + 1));
  const metadataTable = METADATA_TABLES.find((one) => one === word) ?? null;
  const rest = metadataTable === null ? name : name.slice(0, dollar);
  const mark = rest.indexOf('@');
  const hasRef = mark > 0 && mark < rest.length - 1;
  if (rest === '' || (metadataTable === null && !hasRef)) return undefined;
  const travel: TimeTravel | null = hasRef
    ? { kind: 'ref', ref: rest.slice(mark + 1), location, isLiteral: true }
    : null;
  return { table: hasRef ? rest.slice(0, mark) : rest, travel, metadataTable };
}

import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/**
 * The folded texts of a syntax tree, among which are the names of all columns that the query reads; null when it may read columns without
 * naming them: `*`, a place (`#2`), NATURAL JOIN, PIVOT, a table's name as a row, or new names by position (`t AS u(a, b)`). `tables` are the
 * folded names by which columns refer to tables.
 */
export function namedColumns(tree: Json, tables: ReadonlySet<string>): readonly string[] | null {
  const names = new Set<string>();
  const reads = (value: Json): boolean => {
    if (typeof value === 'string') names.add(value);
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return (value as readonly Json[]).every(reads);
    const node = value as JsonObject;
    // A constant's value has no names, and may be long.
    if (node['is_null'] !== undefined) return true;
    if (node['class'] === 'STAR' || node['class'] === 'POSITIONAL_REFERENCE') return false;
    if (node['type'] === 'PIVOT' || node['ref_type'] === 'NATURAL') return false;
    if (node['type'] === 'BASE_TABLE' && (node['column_name_alias'] as readonly Json[]).length > 0) return false;
    const column = node['class'] === 'COLUMN_REF' ? (node['column_names'] as readonly string[]) : [];
    if (column.length === 1 && tables.has(foldIdentifier(column[0] ?? ''))) return false;
    return Object.values(node).every(reads);
  };
  return reads(tree) ? [...new Set([...names].map(foldIdentifier))] : null;
}

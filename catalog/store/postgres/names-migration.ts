const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const foldAgain = (table: string, name: string): string =>
  `update catalog.${table} set ${name}_folded = translate(${name}, '${CAPITALS}', '${LETTERS}')`;

/**
 * Names had been folded by JavaScript's rules, which change more letters than A to Z: FROM found a table by a name by which USE did not
 * find its schema. `translate` says the letters, so that no locale has a part in it.
 */
export const NAMES_MIGRATION: readonly string[] = [
  foldAgain('catalog', 'name'),
  foldAgain('namespace', 'path'),
  foldAgain('iceberg_table', 'name'),
  foldAgain('iceberg_view', 'name'),
];

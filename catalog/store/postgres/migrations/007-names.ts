const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const foldAgain = (table: string, name: string): string =>
  `update catalog.${table} set ${name}_folded = translate(${name}, '${CAPITALS}', '${LETTERS}')`;

/**
 * Folds names by A to Z only. JavaScript's rules, used before, change more letters: FROM found a table by a name by which USE did not find
 * its schema. `translate` lists the letters, so that it does not depend on the locale.
 */
export const NAMES_MIGRATION: readonly string[] = [
  foldAgain('catalog', 'name'),
  foldAgain('namespace', 'path'),
  foldAgain('iceberg_table', 'name'),
  foldAgain('iceberg_view', 'name'),
];

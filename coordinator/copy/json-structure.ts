import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/** The answer of DuckDB's `json_structure` about documents: the name of a type, a list of one structure, or an object of them. */
export type Structure = string | readonly Structure[] | MemberStructures;
/** The structures of an object's members, by their names as documents have them. */
export type MemberStructures = { readonly [name: string]: Structure };

export const parseStructure = (text: string): Structure => JSON.parse(text) as Structure;

export const isObjectStructure = (structure: Structure | undefined): structure is MemberStructures =>
  typeof structure === 'object' && !Array.isArray(structure);

/**
 * Whether every object has members that a struct may have. Of members that differ in case only DuckDB reads one and leaves out the others
 * without a word, and a struct with a member without a name has no type that can be written.
 */
export function hasColumnNames(structure: Structure | undefined): boolean {
  if (structure === undefined || typeof structure === 'string') return true;
  const inner = Object.values(structure);
  if (!inner.every(hasColumnNames)) return false;
  return !isObjectStructure(structure) || areColumnNames(Object.keys(structure));
}

/** Whether the columns of a table, or the members of a struct, may have these names. */
export const areColumnNames = (names: readonly string[]): boolean =>
  !names.includes('') && new Set(names.map(foldIdentifier)).size === names.length;

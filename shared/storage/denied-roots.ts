/**
 * A list of the roots of a table (`allowedRoots`) names folders below which its files may lie, and others that are denied though they lie in
 * one of these: those of tables with policies, whose files nobody reads by another table. The denied ones travel in the same list, so that no
 * reader has the first and lacks the second, and are spelled so that none of them is taken for a location.
 */
const DENIED = '!';

export const deniedRoot = (folder: string): string => `${DENIED}${folder}`;

/** The folders of a list below which files may lie. */
export const openRoots = (roots: readonly string[]): readonly string[] =>
  roots.filter((root) => !root.startsWith(DENIED));

/** The folders of a list below which none may lie. */
export const deniedFolders = (roots: readonly string[]): readonly string[] =>
  roots.filter((root) => root.startsWith(DENIED)).map((root) => root.slice(DENIED.length));

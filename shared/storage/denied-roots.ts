/**
 * A list of the roots of a table (`allowedRoots`) names folders below which its files may lie, and others that are denied though they lie in
 * one of these: those of tables with policies, whose files nobody reads by another table. The denied ones stand in the same list, so that no
 * reader has the first and lacks the second, and are spelled so that none of them is taken for a location.
 */
const DENIED = '!';

export const deniedRoot = (folder: string): string => `${DENIED}${folder}`;

/** A list in parts, as the catalog's messages have it: a coordinator of an older release takes every allowed root for a location. */
type RootsMessage = { readonly allowed_roots: readonly string[]; readonly denied_roots: readonly string[] };

export const rootsMessage = (roots: readonly string[]): RootsMessage => ({
  allowed_roots: openRoots(roots),
  denied_roots: deniedFolders(roots),
});

/** The list of such a message. */
export const rootsOfMessage = (message: RootsMessage): readonly string[] => [
  ...message.allowed_roots,
  ...message.denied_roots.map(deniedRoot),
];

/** The folders of a list below which files may lie. */
export const openRoots = (roots: readonly string[]): readonly string[] =>
  roots.filter((root) => !root.startsWith(DENIED));

/** The folders of a list below which none may lie. */
export const deniedFolders = (roots: readonly string[]): readonly string[] =>
  roots.filter((root) => root.startsWith(DENIED)).map((root) => root.slice(DENIED.length));

/** Namespaces: a tree per catalog. `path` is the levels joined by the unit separator; people read them joined by dots. */

export const LEVEL_SEPARATOR = '\u001F';

export type NamespacePath = readonly string[];

export const splitPath = (text: string): NamespacePath => text.split(LEVEL_SEPARATOR);

export const joinPath = (path: NamespacePath): string => path.join(LEVEL_SEPARATOR);

export const displayPath = (path: NamespacePath): string => path.join('.');

/** Iceberg tables: the pointer to the current metadata, and the metadata. */

export type TableIdent = { readonly namespace: NamespacePath; readonly name: string };

export const displayIdent = ({ namespace, name }: TableIdent): string => `${displayPath(namespace)}.${name}`;

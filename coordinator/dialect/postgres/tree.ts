import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** A node of Postgres' syntax tree: its kind, and its members. */
export type Node = { readonly kind: string; readonly of: JsonObject };

/** @throws NotRead for what is no node */
export function nodeOf(value: Json | undefined): Node {
  if (!isObject(value)) throw new NotRead('a node');
  const [[kind, of] = ['', null]] = Object.entries(value);
  return { kind, of: isObject(of) ? of : {} };
}

export const nodesOf = (value: Json | undefined): readonly Node[] =>
  Array.isArray(value) ? (value as readonly Json[]).map(nodeOf) : [];

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textIn = (of: JsonObject, name: string): string => {
  const value = of[name];
  return typeof value === 'string' ? value : '';
};

export const objectIn = (of: JsonObject, name: string): JsonObject | undefined => {
  const value = of[name];
  return isObject(value) ? value : undefined;
};

export function locationIn(of: JsonObject): number | undefined {
  const location = of['location'];
  // The tree leaves out what is 0.
  return typeof location === 'number' ? location : undefined;
}

/** The texts of a list of names; a star is `*`. */
export const namesIn = (value: Json | undefined): readonly string[] =>
  nodesOf(value).map(({ kind, of }) => (kind === 'A_Star' ? '*' : textIn(of, 'sval')));

/** The statement has something that is not written anew: it stays as it is. */
export class NotRead extends Error {}

/** A name that Postgres does not have. */
export const unknownName = (
  code: 'TABLE_NOT_FOUND' | 'FUNCTION_NOT_FOUND' | 'TYPE_NOT_FOUND',
  message: string,
  position: number | undefined,
): SkeinError => new SkeinError(code, message, position === undefined ? {} : { position });

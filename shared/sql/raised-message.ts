import type { ErrorCode } from '#shared/error.ts';

/** The message of an error that a query raises where a name means no object, as Postgres has it. */
export const missingObject = (kind: string, name: string): string => `${kind} "${name}" does not exist`;

/** The begin of the message of an error that a query raises where a text names no privilege; the text follows in quotes. */
export const UNKNOWN_PRIVILEGE = 'unrecognized privilege type: ';

const CODES: readonly (readonly [ErrorCode, RegExp])[] = [
  ['TABLE_NOT_FOUND', /^relation "[^]*" does not exist$/],
  ['FUNCTION_NOT_FOUND', /^(?:function|operator) "[^]*" does not exist$/],
  ['SCHEMA_NOT_FOUND', /^schema "[^]*" does not exist$/],
  ['TYPE_NOT_FOUND', /^(?:type|role|collation|text search (?:configuration|dictionary)) "[^]*" does not exist$/],
  ['INVALID_ARGUMENT', /^unrecognized privilege type: "/],
  ['NOT_SUPPORTED', /^(?:to_char|format|jsonb) of [^]* is not served$/],
];

/** The code of such a message; undefined for any other. A statement that raises the same text by itself has the same code. */
export const raisedCode = (message: string): ErrorCode | undefined =>
  CODES.find(([, pattern]) => pattern.test(message))?.[0];

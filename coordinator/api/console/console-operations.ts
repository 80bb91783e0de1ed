import { Type } from 'typebox';
import type { ParsedBody } from '../http/operations.ts';
import { errors } from '../http/operation-parts.ts';
import { record, text } from '../../profile/schema-parts.ts';

/** The proof that opens a session of the console beside a person's sign-in at the page of the catalog. */
export type ConsoleSignIn = { readonly code: string } | { readonly token: string };

const HEADERS = Type.Object({
  'x-skein-console': Type.Optional(Type.String({ description: '1; only a page of the console can send it' })),
});

const DONE = { 204: { description: 'Done; the cookie of the session is set, or taken away', type: 'null' } };

export const OPEN_CONSOLE_SESSION = {
  operationId: 'openConsoleSession',
  summary: 'Sign in to the console',
  description:
    'By the code of a link of `skein up` or `skein console`, which works once, or by a token, which lies then sealed in a cookie that ' +
    'scripts cannot read. People sign in at the page of the catalog, to which `/console/sign-in` leads.',
  security: [],
  headers: HEADERS,
  response: { ...DONE, ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'WRONG_PASSWORD', 'TOO_MANY_SIGN_INS']) },
};

export const END_CONSOLE_SESSION = {
  operationId: 'endConsoleSession',
  summary: 'Sign out of the console',
  security: [],
  headers: HEADERS,
  response: { ...DONE, ...errors(['FORBIDDEN']) },
};

const CONSOLE_SIGN_IN = record({
  code: Type.Optional(text('Code of a link')),
  token: Type.Optional(text('Access token, or personal access token')),
});

/** The body of `OPEN_CONSOLE_SESSION`. */
export const CONSOLE_SIGN_IN_BODY: ParsedBody = { parsedBody: CONSOLE_SIGN_IN };

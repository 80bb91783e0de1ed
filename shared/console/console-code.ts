import { randomUUID } from 'node:crypto';
import { SkeinError } from '../error.ts';
import type { Keyring } from '../keyring.ts';
import { openText, sealText } from '../sealed-text.ts';

/** Time for which the link that `skein up` and `skein console` print is good. */
export const CONSOLE_CODE_TTL_MS = 600_000;

/** The content of a link to the console: a token that the operator minted, and the id under which the link is used up. */
export type ConsoleCode = { readonly id: string; readonly token: string; readonly untilMs: number };

const PURPOSE = 'code of the console';

/** Makes the code of a link. Only services of this cluster can read it; it stands in the fragment, which no server's log has. */
export const makeConsoleCode = (token: string, keyring: Keyring, nowMs: number): string =>
  sealText(JSON.stringify({ id: randomUUID(), token, untilMs: nowMs + CONSOLE_CODE_TTL_MS }), keyring, PURPOSE);

/** @throws UNAUTHENTICATED for a text that this cluster did not make, and for one that is over */
export function openConsoleCode(code: string, keyring: Keyring, nowMs: number): ConsoleCode {
  const opened = openText(code, keyring, PURPOSE);
  if ('problem' in opened) throw new SkeinError('UNAUTHENTICATED', `the code of the link ${opened.problem}`);
  const read = JSON.parse(opened.text) as ConsoleCode;
  if (read.untilMs <= nowMs) throw new SkeinError('UNAUTHENTICATED', 'the link is over: skein console prints another');
  return read;
}

/** The link that signs in: the code is in the fragment, so it is in no request but the one that redeems it. */
export const consoleLink = (queryUrl: string, code: string): string => `${queryUrl}/console/#code=${code}`;

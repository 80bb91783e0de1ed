import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#shared/keyring.ts';
import { openText, sealText } from '#shared/sealed-text.ts';

/** The browser keeps this while its person is at the sign-in page of the catalog. */
type Waiting = {
  readonly state: string;
  /** The verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The page to which the person comes back. */
  readonly back: string;
  readonly untilMs: number;
};

const PURPOSE = 'sign-in to the console';
/** Time for a password, a second factor, and perhaps the choice of one. */
const WAIT_MS = 15 * 60_000;
export const WAIT_S = WAIT_MS / 1_000;
/** Longest address of a page to which one comes back. */
const BACK_LENGTH_MAX = 2_000;

/** A page of the console; anything else is its first page, so that no link leads from here to another site. */
export function backOf(text: unknown): string {
  const isOurs =
    typeof text === 'string' && text.length <= BACK_LENGTH_MAX && /^\/console\/[\w\-./~%?=&+,:@!*()]*$/.test(text);
  return isOurs ? text : '/console/';
}

/** Begins a sign-in: what its browser keeps, sealed, and what is shown to the catalog. */
export function beginWaiting(back: string, keyring: Keyring, nowMs: number): Begun {
  const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  const waiting: Waiting = { state, verifier, back, untilMs: nowMs + WAIT_MS };
  return {
    cookie: sealText(JSON.stringify(waiting), keyring, PURPOSE),
    state,
    challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
}

type Begun = { readonly cookie: string; readonly state: string; readonly challenge: string };

/** The sign-in that this browser has begun; undefined for a state that it has not begun itself, or that is too old. */
export function endWaiting(
  cookie: string | undefined,
  state: string,
  { keyring, nowMs }: { readonly keyring: Keyring; readonly nowMs: number },
): Waiting | undefined {
  const opened = openText(cookie ?? '', keyring, PURPOSE);
  if ('problem' in opened) return undefined;
  const waiting = JSON.parse(opened.text) as Waiting;
  const [kept, shown] = [Buffer.from(waiting.state), Buffer.from(state)];
  const isIt = kept.length === shown.length && timingSafeEqual(kept, shown);
  return isIt && waiting.untilMs > nowMs ? waiting : undefined;
}

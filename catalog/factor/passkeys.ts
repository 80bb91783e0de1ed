import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { PrincipalId } from '#shared/id.ts';
import type { Passkey } from '../store/postgres/passkey-store.ts';

/** Passkeys by WebAuthn. Whoever shows one has unlocked it: user verification is required. */

/** The site that passkeys are bound to, as the configuration says; what a request says of itself counts for nothing. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/** @param port the port that the catalog listens on @returns undefined where passkeys cannot be: at an IP address */
export function relyingParty(publicUrl: string, port: number): RelyingParty | undefined {
  if (!/^https:/i.test(publicUrl)) return { id: 'localhost', origin: `http://localhost:${port}` };
  const { hostname, origin } = new URL(publicUrl);
  if (/^\[|^[\d.]+$/.test(hostname)) return undefined;
  return { id: hostname, origin };
}

/** The requests to the browser: a new passkey, or an assertion by one that there is. Both hold a challenge, which is good once. */
export const registrationOptions = (
  site: RelyingParty,
  user: { readonly id: PrincipalId; readonly username: string },
  known: readonly Passkey[],
) =>
  generateRegistrationOptions({
    rpName: 'Skein',
    rpID: site.id,
    userName: user.username,
    userID: new Uint8Array(Buffer.from(user.id.replaceAll('-', ''), 'hex')),
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { userVerification: 'required', residentKey: 'discouraged' },
  });

export const assertionOptions = (site: RelyingParty, known: readonly Passkey[]) =>
  generateAuthenticationOptions({
    rpID: site.id,
    allowCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports: [...transports] })),
    userVerification: 'required',
  });

type NewPasskey = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** Longest id of a credential (WebAuthn, 5.8.3). */
const CREDENTIAL_ID_BYTES_MAX = 1_023;
/** Ways to an authenticator that browsers know (WebAuthn, 5.8.4). */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** The ways that a browser names, which nobody has signed; all else is left out. */
const transportsOf = (shown: unknown): (typeof TRANSPORTS)[number][] =>
  Array.isArray(shown) ? TRANSPORTS.filter((one) => shown.includes(one)) : [];

/** The passkey that a browser has made for the challenge; undefined: it has not. */
export async function madePasskey(
  site: RelyingParty,
  challenge: string,
  text: string,
): Promise<NewPasskey | undefined> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: JSON.parse(text) as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter, transports } = registrationInfo.credential;
    if (Buffer.byteLength(id, 'base64url') > CREDENTIAL_ID_BYTES_MAX) return undefined;
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports: transportsOf(transports) };
  } catch {
    // The library throws for every answer that is not right, and for text that is none.
    return undefined;
  }
}

/** An assertion that was right, or whose counter has gone back: then the passkey was copied. */
export type Assertion =
  | { readonly kind: 'right'; readonly passkey: Passkey; readonly counter: number }
  | { readonly kind: 'counter went back'; readonly passkey: Passkey };

/** Looks at an assertion by one of the passkeys; undefined: it is wrong. */
export async function shownAssertion(
  site: RelyingParty,
  known: readonly Passkey[],
  challenge: string,
  text: string,
): Promise<Assertion | undefined> {
  try {
    const response = JSON.parse(text) as AuthenticationResponseJSON;
    const passkey = known.find(({ credentialId }) => credentialId === response.id);
    if (passkey === undefined) return undefined;
    const { credentialId, publicKey, transports } = passkey;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      // The counter is compared below, so that one that goes back is told from what is wrong.
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter: 0, transports: [...transports] },
      requireUserVerification: true,
    });
    if (!verified) return undefined;
    const counter = authenticationInfo.newCounter;
    const wentBack = (counter > 0 || passkey.counter > 0) && counter <= passkey.counter;
    return wentBack ? { kind: 'counter went back', passkey } : { kind: 'right', passkey, counter };
  } catch {
    return undefined;
  }
}

import { createHash } from 'node:crypto';
import { isUuid } from '#shared/id.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogContext } from '../context.ts';
import { lacksFactor, methodOf } from '../factor/required-factor.ts';
import {
  appSignInsOf,
  deleteAppSignIns,
  findAppSignIn,
  insertAppSignIn,
  insertCode,
  replaceAppToken,
  signInOfCode,
  takeCode,
  type AppSignIn,
  type SignInCode,
} from '../store/postgres/app-sign-in-store.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { findBrowserSignInById } from '../store/postgres/browser-sign-in-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import { maySignIn, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { transact } from '../store/postgres/transact.ts';
import { newSecret, sameDigest, sha256 } from '../token/secret.ts';
import { currentStep, type Found } from './browser-sign-ins.ts';
import type { SignInClient } from './sign-in-client.ts';

/** Begins a code, and the refresh token of a person. */
const CODE_PREFIX = 'skein_code_';
const REFRESH_PREFIX = 'skein_prt_';
/** Time in which a code is exchanged for tokens. */
const CODE_MS = 60_000;
const SECRET_LENGTH_MAX = 200;
const AGENT_LENGTH_MAX = 200;
/** A verifier of PKCE (RFC 7636, 4.1). */
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;
const REFRESH_FORM = /^skein_prt_([0-9a-f-]{36})\.([\w-]{43})$/;

/** A sign-in by a program, and the user as the database says now. */
export type AppSignedIn = {
  readonly signIn: AppSignIn;
  readonly principal: TokenPrincipal;
  readonly refreshToken: string;
};

/** Allows a client to sign in as the person of a browser. @returns the code, which is good for `CODE_MS`, once */
export async function allowApp(
  { store, clock }: CatalogContext,
  { signIn, user }: Found,
  {
    client,
    challenge,
    scopes,
  }: { readonly client: SignInClient; readonly challenge: string; readonly scopes: readonly string[] },
): Promise<string> {
  const code = newSecret(CODE_PREFIX);
  await transact(store.db, (tx) =>
    insertCode(tx, {
      sha256: sha256(code),
      principal: user.id,
      browserSignIn: signIn.id,
      clientId: client.clientId,
      redirectUri: client.redirectUri,
      challenge,
      scopes,
      expiresAt: new Date(clock.nowMs() + CODE_MS),
    }),
  );
  return code;
}

type ShownCode = {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly address: string;
  readonly agent: string;
};

/**
 * The sign-in that a code begins; undefined = it begins none. The first who shows a code uses it up, whatever else he shows; when it comes
 * again, the sign-in that it began ends, because one of the two is a thief.
 */
export async function redeemCode(context: CatalogContext, shown: ShownCode): Promise<AppSignedIn | undefined> {
  const { store, clock } = context;
  if (!shown.code.startsWith(CODE_PREFIX) || shown.code.length > SECRET_LENGTH_MAX) return undefined;
  const digest = sha256(shown.code);
  const nowMs = clock.nowMs();
  const id = newUuidV7(nowMs);
  const redeemed = await transact(store.db, async (tx) => {
    const code = await takeCode(tx, digest, { signIn: id, now: new Date(nowMs) });
    return code === undefined ? 'taken' : beginAppSignIn(context, tx, { code, shown, id, nowMs });
  });
  if (redeemed !== 'taken') return redeemed;
  const begun = await signInOfCode(store.db, digest);
  if (begun !== undefined) await endAppSignIn(context, begun, 'its code came twice');
  return undefined;
}

type Beginning = { readonly code: SignInCode; readonly shown: ShownCode; readonly id: string; readonly nowMs: number };

async function beginAppSignIn(
  { config }: CatalogContext,
  tx: Tx,
  { code, shown, id, nowMs }: Beginning,
): Promise<AppSignedIn | undefined> {
  const isOfClient = code.clientId === shown.clientId && code.redirectUri === shown.redirectUri;
  if (!isOfClient || !VERIFIER.test(shown.verifier)) return undefined;
  if (createHash('sha256').update(shown.verifier).digest('base64url') !== code.challenge) return undefined;
  const [browser, principal] = [
    await findBrowserSignInById(tx, code.browserSignIn),
    await findTokenPrincipal(tx, code.principal, 'roles'),
  ];
  if (browser === undefined || principal === undefined) return undefined;
  if (currentStep(config, browser, principal, nowMs).step !== 'done') return undefined;
  const refresh = newRefreshToken(id);
  const signIn: AppSignIn = {
    id,
    principal: principal.id,
    browserSignIn: browser.id,
    clientId: code.clientId,
    refreshSha256: refresh.sha256,
    scopes: code.scopes.filter((scope) => principal.scopes.includes(scope)),
    sessionEpoch: principal.sessionEpoch,
    amr: browser.amr,
    address: shown.address,
    agent: shown.agent.slice(0, AGENT_LENGTH_MAX),
    authenticatedAt: browser.authenticatedAt,
    startedAt: new Date(nowMs),
    // A sign-in at an identity provider ends with that of its browser, refreshed or not: the provider is asked again.
    endsAt:
      methodOf(browser.amr) === 'sso'
        ? browser.endsAt
        : new Date(browser.authenticatedAt.getTime() + config['catalog.refresh_token_ttl']),
  };
  await insertAppSignIn(tx, signIn);
  return { signIn, principal, refreshToken: refresh.text };
}

function newRefreshToken(signIn: string): { readonly text: string; readonly sha256: Buffer } {
  const secret = newSecret('');
  return { text: `${REFRESH_PREFIX}${signIn}.${secret}`, sha256: sha256(secret) };
}

/** The sign-in and the digest that a person's refresh token names; undefined for any other text. */
function parseAppToken(text: string): { readonly id: string; readonly sha256: Buffer } | undefined {
  const [, id = '', secret = ''] = REFRESH_FORM.exec(text) ?? [];
  return isUuid(id) ? { id, sha256: sha256(secret) } : undefined;
}

export const isAppToken = (text: string): boolean => text.startsWith(REFRESH_PREFIX);

/**
 * Exchanges a person's refresh token for the next one; undefined = it is good for nothing. One that comes twice, or after the session epoch
 * of the user has risen, ends the sign-in.
 */
export async function renewAppSignIn(
  context: CatalogContext,
  shown: { readonly token: string; readonly clientId: string },
): Promise<AppSignedIn | undefined> {
  const { store, clock } = context;
  const parsed = parseAppToken(shown.token);
  if (parsed === undefined) return undefined;
  const next = newRefreshToken(parsed.id);
  const by = { ...parsed, clientId: shown.clientId, now: new Date(clock.nowMs()) };
  const signIn = await transact(store.db, (tx) => replaceAppToken(tx, by, next.sha256));
  const principal = signIn === undefined ? undefined : await findTokenPrincipal(store.db, signIn.principal, 'roles');
  const isGood =
    principal !== undefined &&
    maySignIn(principal.status) &&
    principal.sessionEpoch === signIn?.sessionEpoch &&
    // A requirement that the configuration has raised bumps no epoch.
    !lacksFactor(context.config, principal, signIn.amr);
  if (signIn === undefined || principal === undefined || !isGood) {
    await endAppSignIn(context, parsed.id, signIn === undefined ? 'its refresh token came twice' : 'its user changed');
    return undefined;
  }
  return { signIn, principal, refreshToken: next.text };
}

/** Ends a sign-in, and all its tokens, because of something that happened to its credentials. */
export async function endAppSignIn(context: CatalogContext, id: string, reason: string): Promise<void> {
  const { store, clock, log } = context;
  const signIn = await findAppSignIn(store.db, id);
  const user = signIn === undefined ? undefined : await findTokenPrincipal(store.db, signIn.principal);
  if (signIn === undefined || user === undefined) return;
  await transact(store.db, async (tx) => {
    if ((await deleteAppSignIns(tx, user.id, { id })) === 0) return;
    const tenant = { id: await requireTenant(tx, user.tenant), name: user.tenant };
    await recordEvent(tx, tenant, new Date(clock.nowMs()), {
      type: 'end_sign_in',
      actor: null,
      target: { id: user.id, name: user.username },
      details: { sign_ins: 1, client: signIn.clientId, reason },
    });
  });
  log.info({ signIn: id, principal: user.id, reason }, 'a sign-in has ended');
}

/**
 * Ends the sign-in whose refresh token somebody shows. One that was replaced is of the same sign-in, and whoever shows it has had it; a token
 * that is unknown or over has ended already. @returns false for a token that was issued to another client
 */
export async function revokeAppSignIn(
  context: CatalogContext,
  { token, clientId }: { readonly token: string; readonly clientId: string | undefined },
): Promise<boolean> {
  const shown = parseAppToken(token);
  const signIn = shown === undefined ? undefined : await findAppSignIn(context.store.db, shown.id);
  if (shown === undefined || signIn === undefined) return true;
  if (clientId !== undefined && clientId !== signIn.clientId) return false;
  const isNewest = sameDigest(shown.sha256, signIn.refreshSha256);
  await endAppSignIn(context, signIn.id, isNewest ? 'revoked' : 'a former refresh token was revoked');
  return true;
}

/** The sign-ins of a person by programs that have not ended. */
export const listAppSignIns = ({ store, clock }: CatalogContext, { user }: Found): Promise<readonly AppSignIn[]> =>
  appSignInsOf(store.db, user.id, new Date(clock.nowMs()));

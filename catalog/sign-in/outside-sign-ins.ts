import { createHash } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CatalogContext } from '../context.ts';
import type { Discovery } from '../issuer/discovery.ts';
import { RECOVERY_CODE } from '../factor/required-factor.ts';
import { verifyOutsideToken, type OutsideClaims } from '../issuer/outside-token.ts';
import { NoDocument } from '../outbound/fetch-document.ts';
import { mayOpen, RefusedOutsideToken } from '../principal/sign-in-by-outside-token.ts';
import { insertOutsideSignIn, takeOutsideSignIn, type OutsideSignInBegun } from '../store/postgres/identity-store.ts';
import {
  findProviderById,
  providersForPeople,
  providerSecretOwner,
  type ProviderRow,
} from '../store/postgres/provider-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { newSecret, sha256 } from '../token/secret.ts';
import { beginProvenSignIn, findSignIn, type Browser, type ReachedStep } from './browser-sign-ins.ts';
import { linkIdentity } from './linked-identities.ts';
import { STEP_MS } from './sign-in-step.ts';
import { userOfIdentity } from './user-of-identity.ts';

/** Begins the secret by which a browser is known again that has gone to a provider. */
const BROWSER_PREFIX = 'skein_out_';
const SHOWN_LENGTH_MAX = 4_096;
const AMR_MAX = 10;
const AMR_WORD = /^[a-z0-9_-]{1,30}$/;
/** Classes of authentication that are more than one factor: OpenID's policies, and those of its EAP profile. */
const FACTOR_CLASSES: ReadonlySet<unknown> = new Set([
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
  'phr',
  'phrh',
]);
/** Without `auth_time` nobody knows how old the sign-in at the provider is: it is taken for one that changes no factor. */
const OLD_MS = 300_001;

/** The way to a provider, and the secret that the browser keeps meanwhile. */
export type WayToProvider = { readonly address: string; readonly secret: string };

type Beginning = {
  readonly tenant: string | undefined;
  readonly provider: string;
  /** The address of the catalog, as browsers know it. */
  readonly origin: string;
  /** The provider is to ask the person again. */
  readonly isAgain: boolean;
  /** The user whom it links. */
  readonly links?: PrincipalId;
};

const callbackOf = (origin: string): string => `${origin}/sign-in/callback`;

/**
 * Begins a sign-in at an identity provider (OpenID Connect, code flow with PKCE). @returns undefined when the tenant has no such provider
 * @throws INVALID_REQUEST while the provider's documents cannot be read
 */
export async function beginOutsideSignIn(context: CatalogContext, to: Beginning): Promise<WayToProvider | undefined> {
  const { store, clock, issuers, config } = context;
  const named = foldIdentifier(to.provider);
  const provider = (await providersForPeople(store.db, to.tenant)).find(({ name }) => foldIdentifier(name) === named);
  if (provider === undefined) return undefined;
  const { authorizeUrl } = await issuers.discovery(provider.issuer);
  if (authorizeUrl === undefined) return undefined;
  const [state, nonce, verifier, secret] = [newSecret(''), newSecret(''), newSecret(''), newSecret(BROWSER_PREFIX)];
  await transact(store.db, (tx) =>
    insertOutsideSignIn(tx, {
      stateSha256: sha256(state),
      browserSha256: sha256(secret),
      providerId: provider.id,
      nonce,
      verifier,
      isAgain: to.isAgain,
      links: to.links ?? null,
      endsAt: new Date(clock.nowMs() + STEP_MS),
    }),
  );
  const url = new URL(authorizeUrl);
  const asked = {
    response_type: 'code',
    client_id: must(provider.clientId, 'people sign in there'),
    redirect_uri: callbackOf(to.origin),
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    // An answer to it has auth_time.
    max_age: to.isAgain ? '0' : String(Math.floor(config['catalog.browser_session'] / 1_000)),
    ...(to.isAgain ? { prompt: 'login' } : {}),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return { address: url.href, secret };
}

/** The answer of a provider, as a browser brings it back. */
export type ProviderAnswer = {
  readonly state: string;
  readonly code: string;
  /** The issuer, where it says so (RFC 9207); '' where not. */
  readonly iss: string;
  /** The secret of the browser that has gone there. */
  readonly secret: string;
};

/**
 * Ends a sign-in at a provider: signs its user in, or links him. Each return is good once, in the browser that has begun it.
 * @throws WRONG_PASSWORD for everybody who is refused, TOO_MANY_SIGN_INS
 */
export async function finishOutsideSignIn(
  context: CatalogContext,
  browser: Browser,
  answer: ProviderAnswer,
  origin: string,
): Promise<ReachedStep> {
  const { passwords, signIns, metrics } = context;
  const { address, agent } = browser;
  const attempt = { tenant: '', user: sha256(answer.state).toString('base64'), address, isNameless: true };
  passwords.requireAllowed(attempt);
  let tenant: string | undefined;
  try {
    const begun = await taken(context, answer);
    const provider = await findProviderById(context.store.db, begun.providerId);
    if (provider === undefined || !provider.enabled) throw refused();
    ({ tenant } = provider);
    const claims = await claimsOf(context, { begun, provider, answer, origin });
    if (begun.links !== null) return await linkedBy(context, browser, { begun, provider, claims });
    return await signedIn(context, browser, { begun, provider, claims });
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'WRONG_PASSWORD') throw error;
    passwords.failed(attempt);
    const reason = error instanceof RefusedOutsideToken ? error.reason : 'wrong';
    const named = tenant === undefined ? ({ by: 'nobody' } as const) : ({ by: 'provider', tenant } as const);
    signIns.refused(named, 'sso', { address, agent, reason });
    metrics.signIns.inc({ method: 'sso', outcome: 'refused' });
    throw error;
  }
}

const refused = (tenant?: string, reason: 'wrong' | 'not trusted' | 'not active' = 'wrong'): SkeinError =>
  new RefusedOutsideToken(tenant, reason);

/** @throws WRONG_PASSWORD */
async function taken({ store, clock }: CatalogContext, answer: ProviderAnswer): Promise<OutsideSignInBegun> {
  const { state, secret, code } = answer;
  if ([state, secret, code].some((text) => text === '' || text.length > SHOWN_LENGTH_MAX)) throw refused();
  const shown = {
    stateSha256: sha256(state),
    browserSha256: sha256(secret),
    now: new Date(clock.nowMs()),
  };
  const begun = await transact(store.db, (tx) => takeOutsideSignIn(tx, shown));
  if (begun === undefined) throw refused();
  return begun;
}

type Returned = {
  readonly begun: OutsideSignInBegun;
  readonly provider: ProviderRow;
  readonly answer: ProviderAnswer;
  readonly origin: string;
};

/** Exchanges the code, and verifies the ID token that it gives. @throws WRONG_PASSWORD */
async function claimsOf(context: CatalogContext, returned: Returned): Promise<OutsideClaims> {
  const { issuers, clock } = context;
  const { provider, begun, answer } = returned;
  const clientId = provider.clientId ?? '';
  const discovery = await issuers.discovery(provider.issuer).catch(() => undefined);
  // Mixed-up issuers: the code is shown to nobody else than who has given it.
  const isMixedUp = answer.iss === '' ? discovery?.answersIssuer === true : answer.iss !== provider.issuer;
  if (discovery === undefined || isMixedUp) throw refused(provider.tenant);
  const idToken = await exchanged(context, discovery, returned);
  if (idToken === undefined) throw refused(provider.tenant);
  const expected = { issuer: provider.issuer, audiences: [clientId], nowMs: clock.nowMs() };
  const claims = await verifyOutsideToken(issuers, idToken, expected);
  const isOurs = claims?.['azp'] === undefined || claims['azp'] === clientId;
  if (claims === undefined || !isOurs || claims['nonce'] !== begun.nonce) throw refused(provider.tenant);
  return claims;
}

async function exchanged(
  { issuers, sealing, log }: CatalogContext,
  { tokenUrl, takesSecretInForm }: Discovery,
  { provider, begun, answer, origin }: Returned,
): Promise<string | undefined> {
  if (tokenUrl === undefined) return undefined;
  const clientId = provider.clientId ?? '';
  const secret =
    provider.sealedSecret === null ? undefined : sealing.open(provider.sealedSecret, providerSecretOwner(provider.id));
  const isInForm = secret === undefined || takesSecretInForm;
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: answer.code,
    redirect_uri: callbackOf(origin),
    code_verifier: begun.verifier,
    ...(isInForm ? { client_id: clientId } : {}),
    ...(isInForm && secret !== undefined ? { client_secret: secret } : {}),
  });
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret ?? '')}`).toString('base64');
  try {
    const { status, json } = await issuers.send(tokenUrl, form, isInForm ? {} : { authorization: `Basic ${basic}` });
    const token = (json as { readonly id_token?: unknown } | null | undefined)?.id_token;
    if (status === 200 && typeof token === 'string') return token;
    const { error } = (json ?? {}) as { readonly error?: unknown };
    log.warn(
      { provider: provider.name, status, error: String(error).slice(0, 100) },
      'an identity provider gave no token',
    );
  } catch (error) {
    if (!(error instanceof NoDocument)) throw error;
    log.warn({ provider: provider.name, reason: error.message }, 'an identity provider gave no token');
  }
  return undefined;
}

type Known = {
  readonly begun: OutsideSignInBegun;
  readonly provider: ProviderRow;
  readonly claims: OutsideClaims;
};

/** The user of the identity is signed in, in the step that he has reached thereby. @throws WRONG_PASSWORD */
async function signedIn(context: CatalogContext, browser: Browser, known: Known): Promise<ReachedStep> {
  const { begun, provider, claims } = known;
  const user = await userOfIdentity(context, provider, claims);
  if (user === undefined || !mayOpen(provider, user)) throw refused(provider.tenant, 'not trusted');
  const authenticatedAtMs = authTimeOf(claims, begun, context.clock.nowMs());
  return beginProvenSignIn(context, browser, user, { amr: amrOf(claims), authenticatedAtMs });
}

/** The user who has gone there links what he has come back with. @throws WRONG_PASSWORD, FORBIDDEN, ALREADY_EXISTS */
async function linkedBy(
  context: CatalogContext,
  browser: Browser,
  { begun, provider, claims }: Known,
): Promise<ReachedStep> {
  const found = await findSignIn(context, browser.secret);
  if (found === undefined || found.user.id !== begun.links) throw refused(provider.tenant);
  return linkIdentity(context, found, provider, claims);
}

const isAmrWord = (word: unknown): boolean => typeof word === 'string' && AMR_WORD.test(word) && word !== RECOVERY_CODE;

/** How the person has proven himself there; `mfa` where the provider says so in `amr` or `acr`. */
function amrOf({ amr, acr }: OutsideClaims): readonly string[] {
  const words = Array.isArray(amr) ? amr.filter((word) => isAmrWord(word)) : [];
  const own = words.slice(0, AMR_MAX) as string[];
  return [...new Set(['sso', ...own, ...(FACTOR_CLASSES.has(acr) ? ['mfa'] : [])])];
}

function authTimeOf({ auth_time: atS, iat }: OutsideClaims, { isAgain }: OutsideSignInBegun, nowMs: number): number {
  if (typeof atS === 'number' && Number.isFinite(atS) && atS > 0) return Math.min(atS * 1_000, nowMs);
  return Math.min(iat * 1_000, nowMs) - (isAgain ? 0 : OLD_MS);
}

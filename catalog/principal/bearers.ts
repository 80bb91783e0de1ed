import { memoryUses } from '#shared/memory-uses.ts';
import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { outsideBearer } from '#shared/authorization/outside-token.ts';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { TokenVerifier } from '#shared/token-verifier.ts';
import type { Store } from '../store/postgres/connect.ts';
import { subjectOf } from '../store/postgres/principal-store.ts';
import { sha256 } from '../token/secret.ts';
import type { TokenIssuer } from '../token/token-issuer.ts';
import { reasonOf } from './refused-sign-in.ts';
import type { Issuers } from '../issuer/issuers.ts';
import { namedByRefusal, signInByOutsideToken, type OutsideSignIn } from './sign-in-by-outside-token.ts';
import { signInByToken } from './sign-in-by-token.ts';
import type { SignInLog } from './sign-in-log.ts';
import type { PasswordVerifier } from './verify-password.ts';

/** Time for which the access token is used again that a personal one was exchanged for: clients send theirs with every request. */
const REMEMBERED_MS = 300_000;
/** Most personal access tokens that are remembered. */
const REMEMBERED_MAX = 10_000;
const BEARER = /^Bearer +(skein_pat_\S+)\s*$/i;

/** A secret that stands in the place of an access token. */
type Shown = { readonly method: 'pat' | 'federated'; readonly text: string };

type Parts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<Config, 'catalog.outside_bearer' | 'catalog.outside_audiences'>;
  readonly issuers: Issuers;
  readonly verifier: TokenVerifier;
  readonly issuer: TokenIssuer;
  readonly passwords: PasswordVerifier;
  readonly signIns: SignInLog;
};

type Options = {
  /** Longest life of an access token. */
  readonly lifeMs: number;
  readonly count: (method: Shown['method'], outcome: 'granted' | 'refused') => void;
};

/**
 * Verifies the bearers of the REST door: access tokens, personal access tokens, and tokens of identity providers, each of which is a sign-in
 * and stands for the access token that it is exchanged for. A remembered one is verified at every request, so it ends with its owner's session epoch.
 */
export class Bearers {
  readonly #parts: Parts & Options;
  readonly #key = randomBytes(32);
  readonly #remembered = new LRUCache<string, { readonly token: string; readonly untilMs: number }>({
    max: REMEMBERED_MAX,
  });
  readonly #uses = memoryUses('bearers');
  /** Sign-ins that are under way: who sends many requests at once has one. */
  readonly #running = new Map<string, Promise<TokenClaims>>();

  constructor(parts: Parts, options: Options) {
    this.#parts = { ...parts, ...options };
  }

  /** @param address the client's, by which refusals are counted @throws UNAUTHENTICATED, TOO_MANY_SIGN_INS, CATALOG_UNAVAILABLE */
  async verify(authorization: string | undefined, address: string): Promise<TokenClaims> {
    const { verifier, clock } = this.#parts;
    const shown = this.#shownIn(authorization);
    if (shown === undefined) return verifier.verify(authorization);
    const digest = createHmac('sha256', this.#key).update(shown.text).digest('base64');
    const known = this.#remembered.get(digest);
    const isFresh = known !== undefined && known.untilMs > clock.monotonicMs();
    this.#uses.count(isFresh);
    if (isFresh) {
      const claims = await verifier.verifyToken(known.token).catch(refusedAsNone);
      if (claims !== undefined) return claims;
    }
    this.#remembered.delete(digest);
    const attempt = `${address} ${digest}`;
    const running =
      this.#running.get(attempt) ?? this.#signIn(shown, digest, address).finally(() => this.#running.delete(attempt));
    this.#running.set(attempt, running);
    return running;
  }

  #shownIn(authorization: string | undefined): Shown | undefined {
    const pat = BEARER.exec(authorization ?? '')?.[1];
    if (pat !== undefined) return { method: 'pat', text: pat };
    if (this.#parts.config['catalog.outside_bearer'] === 'off') return undefined;
    const text = outsideBearer(authorization);
    return text === undefined ? undefined : { method: 'federated', text };
  }

  async #signIn(shown: Shown, digest: string, address: string): Promise<TokenClaims> {
    const { clock, verifier, issuer, signIns, lifeMs, count } = this.#parts;
    const { method } = shown;
    const holder = await this.#holderOf(shown, address).catch((error: unknown) => {
      if (!(error instanceof SkeinError) || error.code !== 'WRONG_PASSWORD') throw error;
      const named =
        method === 'pat'
          ? ({ by: 'token', sha256: sha256(shown.text).toString('hex') } as const)
          : namedByRefusal(error);
      signIns.refused(named, method, { address, reason: reasonOf(error) });
      count(method, 'refused');
      throw new SkeinError('UNAUTHENTICATED', error.message);
    });
    const { principal, scopes, expiresAtMs } = holder;
    const nowMs = clock.nowMs();
    const subject = { ...subjectOf(principal), scopes, authMethod: method };
    const { token } = await issuer.issue(subject, Math.min(lifeMs, expiresAtMs - nowMs), nowMs);
    await signIns.granted(principal, method, { address });
    count(method, 'granted');
    const claims = await verifier.verifyToken(token);
    // A token of an identity provider is kept as a verified one is: until it ends.
    const keptMs = method === 'pat' ? REMEMBERED_MS : lifeMs;
    this.#remembered.set(digest, { token, untilMs: clock.monotonicMs() + keptMs });
    return claims;
  }

  async #holderOf({ method, text }: Shown, address: string): Promise<OutsideSignIn> {
    if (method === 'federated') return signInByOutsideToken(this.#parts, text, { address });
    const { principal, scopes, expiresAt } = await signInByToken(this.#parts, text, { address });
    return { principal, scopes, expiresAtMs: expiresAt.getTime() };
  }
}

/** @returns undefined when a token was refused; other errors go on */
function refusedAsNone(error: unknown): undefined {
  if (SkeinError.of(error).code !== 'UNAUTHENTICATED') throw error;
}

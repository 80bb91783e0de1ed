import { promises as dns } from 'node:dns';
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { memoryUses } from '#shared/memory-uses.ts';
import { allowedAddresses } from '../outbound/allowed-addresses.ts';
import { openAuthorities, type Authorities } from '../outbound/open-authorities.ts';
import { NoDocument, fetchDocument, type OutsideDocument } from '../outbound/fetch-document.ts';
import type { OutboundRequest, WayOut } from '../outbound/send-request.ts';
import { discoveryUrl, keptMs, readDiscovery, readKeys, type Discovery } from './discovery.ts';

/** Longest time in which an issuer has to answer with both of its documents, or with tokens. */
const TIMEOUT_MS = 5_000;
const DOCUMENT_BYTES_MAX = 256 * 1_024;
/** An issuer that did not answer is not asked again for so long. */
const RETRY_MS = 10_000;
/** An unknown key makes its issuer be asked again at most this often. */
const UNKNOWN_KEY_MS = 60_000;
/** Issuers whose documents are kept; beyond it those that were used least recently are read again. */
const ISSUERS_MAX = 1_000;
const DNS = { timeout: 2_000, tries: 2 };

/** The documents of an issuer. */
type Documents = {
  readonly discovery: Discovery;
  readonly keyOf: ReturnType<typeof createLocalJWKSet>;
  readonly keys: readonly JWK[];
  readonly freshUntilMs: number;
  readonly goodUntilMs: number;
};

type Issuer = {
  documents: Documents | undefined;
  reading: Promise<Documents> | undefined;
  failedAtMs: number;
  readAtMs: number;
};

type Parts = { readonly config: Config; readonly clock: Clock; readonly log: Logger };

/**
 * The issuers of tokens: their discovery documents and keys, read over the way of webhooks (`outbound`) and kept as they say. All requests
 * for one issuer share one call, and an issuer that does not answer holds up nobody else.
 */
export class Issuers implements Disposable {
  readonly #parts: Parts;
  readonly #trust: Authorities;
  readonly #closed = new AbortController();
  readonly #way: Omit<WayOut, 'trust'>;
  readonly #known = new LRUCache<string, Issuer>({ max: ISSUERS_MAX });
  readonly #uses = memoryUses('issuer_documents');

  /** @throws INVALID_CONFIGURATION */
  constructor(parts: Parts, resolver: WayOut['resolver'] = new dns.Resolver(DNS)) {
    this.#parts = parts;
    this.#trust = openAuthorities(parts.config, parts.log);
    const isAllowed = allowedAddresses(parts.config['webhook.allowed_networks']);
    this.#way = { isAllowed, resolver, signal: this.#closed.signal };
  }

  [Symbol.dispose](): void {
    this.#closed.abort();
    this.#trust[Symbol.dispose]();
  }

  /** Reads the documents of an issuer for a statement that names it. @throws INVALID_REQUEST that says in one line what is wrong */
  async check(issuer: string): Promise<Discovery> {
    return (await this.#reading(issuer, this.#issuer(issuer))).discovery;
  }

  /** The discovery document of an issuer. @throws INVALID_REQUEST while there is none */
  async discovery(issuer: string): Promise<Discovery> {
    return (await this.#documents(issuer)).discovery;
  }

  /**
   * The key that signs a token of the issuer, by its header's `kid` and `alg` alone.
   * @throws errors of jose when there is none, INVALID_REQUEST while the issuer's keys are not known
   */
  async key(issuer: string, header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const known = await this.#documents(issuer);
    try {
      return await known.keyOf(header, token);
    } catch (error) {
      const state = this.#issuer(issuer);
      const isDue = this.#parts.clock.monotonicMs() - state.readAtMs >= UNKNOWN_KEY_MS;
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isDue) throw error;
      return await (await this.#reading(issuer, state)).keyOf(header, token);
    }
  }

  /**
   * Whether no key of the issuer has this id, as far as its key set is known and not to be read again. Costs next to nothing, so that a flood of
   * tokens of unknown keys does neither.
   */
  lacksKey(issuer: string, keyId: string | undefined): boolean {
    const state = this.#known.peek(issuer);
    if (keyId === undefined || state?.documents === undefined) return false;
    const nowMs = this.#parts.clock.monotonicMs();
    const isSettled = state.documents.freshUntilMs > nowMs && nowMs - state.readAtMs < UNKNOWN_KEY_MS;
    return isSettled && !state.documents.keys.some(({ kid }) => kid === keyId);
  }

  /** Sends a form to an endpoint that the issuer's discovery document names. @throws NoDocument */
  send(url: string, form: URLSearchParams, headers: Readonly<Record<string, string>>): Promise<OutsideDocument> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#read({ method: 'POST', url, headers: { ...headers, ...type }, body: Buffer.from(form.toString()) });
  }

  #issuer(issuer: string): Issuer {
    const known = this.#known.get(issuer);
    if (known !== undefined) return known;
    const never = Number.NEGATIVE_INFINITY;
    const fresh: Issuer = { documents: undefined, reading: undefined, failedAtMs: never, readAtMs: never };
    this.#known.set(issuer, fresh);
    return fresh;
  }

  async #documents(issuer: string): Promise<Documents> {
    const state = this.#issuer(issuer);
    const nowMs = this.#parts.clock.monotonicMs();
    const { documents } = state;
    const isFresh = documents !== undefined && documents.freshUntilMs > nowMs;
    this.#uses.count(isFresh);
    if (isFresh) return documents;
    const good = documents !== undefined && documents.goodUntilMs > nowMs ? documents : undefined;
    if (nowMs - state.failedAtMs < RETRY_MS) return good ?? Promise.reject(away());
    try {
      return await this.#reading(issuer, state);
    } catch (error) {
      if (good === undefined) throw error;
      return good;
    }
  }

  /** Reads both documents; whoever asks meanwhile gets the same. */
  #reading(issuer: string, state: Issuer): Promise<Documents> {
    if (state.reading !== undefined) return state.reading;
    const { clock, log } = this.#parts;
    const startedAtMs = clock.monotonicMs();
    state.readAtMs = startedAtMs;
    const reading = this.#fetch(issuer, startedAtMs)
      .then((documents) => {
        state.documents = documents;
        state.failedAtMs = Number.NEGATIVE_INFINITY;
        return documents;
      })
      .catch((error: unknown) => {
        state.failedAtMs = clock.monotonicMs();
        log.warn(
          { issuer, reason: SkeinError.of(error).message },
          'the documents of an identity provider were not read',
        );
        throw error;
      })
      .finally(() => {
        state.reading = undefined;
      });
    state.reading = reading;
    return reading;
  }

  async #fetch(issuer: string, startedAtMs: number): Promise<Documents> {
    const discovery = readDiscovery(issuer, await this.#json(discoveryUrl(issuer), startedAtMs, 'discovery document'));
    const answer = await this.#document(discovery.keysUrl, startedAtMs, 'jwks_uri');
    const keys = readKeys(answer.json);
    if (keys === undefined) throw unusable('its jwks_uri answers no key set');
    const nowMs = this.#parts.clock.monotonicMs();
    const freshUntilMs = nowMs + keptMs(answer.cacheControl);
    return {
      discovery,
      keys,
      keyOf: createLocalJWKSet({ keys: [...keys] }),
      freshUntilMs,
      goodUntilMs: freshUntilMs + this.#parts.config['catalog.outside_keys_stale'],
    };
  }

  async #json(url: string, startedAtMs: number, what: string): Promise<unknown> {
    return (await this.#document(url, startedAtMs, what)).json;
  }

  async #document(url: string, startedAtMs: number, what: string): Promise<OutsideDocument> {
    const leftMs = TIMEOUT_MS - (this.#parts.clock.monotonicMs() - startedAtMs);
    try {
      const answer = await this.#read({ method: 'GET', url, headers: {} }, Math.max(1, leftMs));
      if (answer.status !== 200) throw unusable(`its ${what} answers ${answer.status}`);
      return answer;
    } catch (error) {
      if (error instanceof NoDocument) throw unusable(`its ${what} was not read: ${error.message}`, error);
      throw error;
    }
  }

  #read(request: OutboundRequest, timeoutMs = TIMEOUT_MS): Promise<OutsideDocument> {
    const way = { ...this.#way, trust: this.#trust.current() };
    return fetchDocument(request, way, { timeoutMs, bytesMax: DOCUMENT_BYTES_MAX });
  }
}

const unusable = (why: string, cause?: unknown): SkeinError =>
  new SkeinError('INVALID_REQUEST', `ISSUER: ${why}`, { cause });

const away = (): SkeinError => unusable('it did not answer a moment ago');

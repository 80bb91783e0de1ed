import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { memoryUses } from '#shared/memory-uses.ts';
import { clockNote } from '#shared/storage/object/clock-note.ts';
import { sendRequest, type StoreAnswer, type StoreMethod } from '#shared/storage/object/send-request.ts';

/** Requests for tokens and keys, to services that are no stores. */

type TokenRequest = {
  readonly method: StoreMethod;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

const SENDS_MAX = 4;
const WAIT_MS = 100;
const ANSWER_BYTES_MAX = 262_144;

/**
 * Sends a request until it is answered. @param what is wanted, for the error
 * @param reasonOf the service's reason for a refusal: words of ours or codes, and no text of the service, which may repeat a secret
 * @throws STORAGE_ERROR
 */
export async function askForToken(
  { method, url, headers = {}, body }: TokenRequest,
  { what, reasonOf }: { readonly what: string; readonly reasonOf: (answer: StoreAnswer) => string },
): Promise<StoreAnswer> {
  const address = new URL(url);
  for (let sent = 1; ; sent++) {
    let why: string;
    let failure: unknown;
    try {
      const answer = await sendRequest({
        url: address,
        method,
        path: address.pathname + address.search,
        headers: {
          host: address.host,
          ...headers,
          ...(method === 'POST' ? { 'content-length': String(Buffer.byteLength(body ?? '')) } : {}),
        },
        body: body === undefined ? undefined : Buffer.from(body),
        bytesMax: ANSWER_BYTES_MAX,
      });
      if (answer.status === 200 && !answer.isCut) return answer;
      why = `${reasonOf(answer)}${clockNote(answer)}`;
      if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) throw refused(what, why);
    } catch (error) {
      if (error instanceof SkeinError) throw error;
      failure = error;
      why = `${address.host} does not answer`;
    }
    if (sent >= SENDS_MAX) throw refused(what, why, failure);
    await sleep(WAIT_MS * 2 ** (sent - 1) * (0.5 + Math.random() / 2));
  }
}

const refused = (what: string, why: string, cause?: unknown): SkeinError =>
  new SkeinError('STORAGE_ERROR', `${what}: ${why}`, cause === undefined ? {} : { cause });

/** The members of an answer; none when it is no JSON. */
export function jsonOf({ body }: StoreAnswer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** A code that stands in an answer; a text that is none is left out. */
export const codeOf = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:-]{1,80}$/.test(value) ? value : '';

export const formOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A token that opens what its identity may. */
export type BearerToken = { readonly token: string; readonly expiresAtMs: number };

/** The token in an answer of OAuth. @throws STORAGE_ERROR */
export function tokenOf(answer: StoreAnswer, what: string, nowMs: number): BearerToken {
  const { access_token: token, expires_in: seconds } = jsonOf(answer);
  const lifeSeconds = Number(seconds);
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,20000}$/.test(token) || !(lifeSeconds > 0)) {
    throw refused(what, 'the answer holds no token');
  }
  return { token, expiresAtMs: nowMs + lifeSeconds * 1_000 };
}

type Kept<Token> = {
  readonly token: Promise<Token>;
  /** When it is asked for again. */
  readonly untilMs: Promise<number>;
};

/**
 * The last token of each identity, asked for again when half of its life is over. One question at a time for each, and nobody waits for its answer
 * while the last token serves, which it does until it ends: a service that hangs delays no request.
 */
export class TokenCache<Token extends { readonly expiresAtMs: number }> {
  readonly #nowMs: () => number;
  readonly #tokens = new Map<string, Kept<Token>>();
  readonly #uses = memoryUses('store_tokens');

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @param isRefused the store takes the last one no more: another is wanted */
  async get(id: string, ask: () => Promise<Token>, isRefused = false): Promise<Token> {
    const known = this.#tokens.get(id);
    if (!isRefused && known !== undefined) {
      const last = await known.token.catch(() => undefined);
      if (last !== undefined && (await known.untilMs) > this.#nowMs()) return this.#found(last);
      if (last !== undefined && last.expiresAtMs - LEFT_MIN_MS > this.#nowMs()) {
        if (this.#tokens.get(id) === known) void this.#renew(id, ask, last);
        return this.#found(last);
      }
    }
    const other = this.#tokens.get(id);
    if (other !== undefined && other !== known) return other.token.then((token) => this.#found(token));
    this.#uses.count(false);
    if (this.#tokens.size >= IDENTITIES_MAX) this.#tokens.clear();
    const askedMs = this.#nowMs();
    const token = ask();
    const untilMs = token.then(({ expiresAtMs }) => halfOf(askedMs, expiresAtMs));
    untilMs.catch(() => undefined);
    this.#tokens.set(id, { token, untilMs });
    return token;
  }

  #found(token: Token): Token {
    this.#uses.count(true);
    return token;
  }

  /** Asks for the next token beside the requests, which have the last one meanwhile, and also when there is no other. */
  async #renew(id: string, ask: () => Promise<Token>, last: Token): Promise<void> {
    const askedMs = this.#nowMs();
    const meanwhile = kept(last, last.expiresAtMs - LEFT_MIN_MS);
    this.#tokens.set(id, meanwhile);
    const next = await ask().catch(() => last);
    // A token that was asked for since, because the store has refused the last, is newer.
    if (this.#tokens.get(id) === meanwhile) this.#tokens.set(id, kept(next, halfOf(askedMs, next.expiresAtMs)));
  }
}

const kept = <Token>(token: Token, untilMs: number): Kept<Token> => ({
  token: Promise.resolve(token),
  untilMs: Promise.resolve(untilMs),
});

const halfOf = (fromMs: number, toMs: number): number => fromMs + (toMs - fromMs) / 2;

const IDENTITIES_MAX = 1_000;
/** A token with less than this to live serves nobody. */
const LEFT_MIN_MS = 60_000;

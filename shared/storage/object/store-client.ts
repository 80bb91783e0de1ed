import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { storeKeyId, type StoreCredential } from '#shared/storage/credential.ts';
import { RepeatBudget, type StorageUse } from '#shared/storage/storage-use.ts';
import { AnswerTooLarge, type StoreAnswer } from './send-request.ts';
import { isRefusedKey, type StoreError } from './store-error.ts';

/** How requests of one kind of store are sent and refused. */
export type StoreProtocol<Request, Credential> = {
  /** Sends a request once. @param bytesMax of the answer, where the request says nothing */
  readonly send: (
    credential: Credential,
    request: Request,
    limits: { readonly bytesMax: number; readonly signal: AbortSignal | undefined },
  ) => Promise<StoreAnswer>;
  readonly errorOf: (answer: StoreAnswer) => StoreError;
  /** Refusals that pass. */
  readonly repeatedCodes: ReadonlySet<string>;
  /** Whether the answer is bytes of an object, of which a part is worth something. */
  readonly isRead: (request: Request) => boolean;
};

export type ClientAnswer = StoreAnswer & {
  /** How often it was sent: an answer of an earlier time may have been lost. */
  readonly sent: number;
};

/** How often one request is sent at most, and the longest time that its repeats may take. */
const SENDS_MAX = 8;
const TIME_MAX_MS = 60_000;
/** The wait before a request is sent again doubles from the first to the last; each is shortened by chance. */
const WAIT_MIN_MS = 50;
const WAIT_MAX_MS = 5_000;
/** A page of 1,000 keys of 1,024 bytes, escaped. */
const ANSWER_BYTES_MAX = 8 * 2 ** 20;
/**
 * How often one request asks for another key: the first that comes may be an older one, which the store has forgotten as well, and which nobody
 * has used since.
 */
export const RENEWALS_MAX = 2;
/** A key with less than this to live is renewed before it is used. */
const KEY_LEFT_MIN_MS = 5_000;

const REPEATED_STATUS: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

type Outcome =
  | { readonly answer: StoreAnswer }
  | { readonly error: unknown; readonly mayPass: boolean; readonly isKeyRefused: boolean };

/** Sends requests to a store, and again while an error may pass. */
export class StoreClient<Request, Credential extends StoreCredential> {
  readonly #protocol: StoreProtocol<Request, Credential>;
  readonly #use: StorageUse;
  readonly #repeats: RepeatBudget;
  #credential: Credential;

  constructor(protocol: StoreProtocol<Request, Credential>, credential: Credential, use: StorageUse = {}) {
    this.#protocol = protocol;
    this.#credential = credential;
    this.#use = use;
    this.#repeats = use.repeats ?? new RepeatBudget();
  }

  /** The same after the signal of the statement: what it began is ended nevertheless. */
  detached(): StoreClient<Request, Credential> {
    const { signal: _signal, ...use } = this.#use;
    return new StoreClient(this.#protocol, this.#credential, use);
  }

  /** Whether a request may be sent again. Also for bodies whose bytes are wrong, and which a caller asks for again. */
  mayRepeat(): boolean {
    return this.#repeats.take();
  }

  /** Tells the statement or task of an upload that was perhaps begun, and that nobody knows. */
  lostUpload(): void {
    this.#use.lostUpload?.();
  }

  /**
   * Sends a request until it is answered. A body that ended early is given as it is (`isCut`): who reads a range goes on from there.
   * @param accepted statuses beyond 2xx that are answers, too
   * @throws StoreError, or the error of the connection
   */
  async send(request: Request, accepted: readonly number[] = []): Promise<ClientAnswer> {
    const beganMs = performance.now();
    let renewals = 0;
    for (let sent = 1; ; sent++) {
      this.#use.signal?.throwIfAborted();
      const credential = await this.credential();
      const outcome = await this.#sendOnce(request, accepted, credential);
      if ('answer' in outcome) {
        this.#repeats.answered();
        return { ...outcome.answer, sent };
      }
      if (outcome.isKeyRefused && renewals < RENEWALS_MAX && this.#use.renew !== undefined) {
        renewals += 1;
        // Another request may have renewed it meanwhile.
        if (this.#credential === credential) await this.#renew(credential);
        if (storeKeyId(this.#credential) !== storeKeyId(credential)) continue;
      }
      const isLast = sent >= SENDS_MAX || performance.now() - beganMs > TIME_MAX_MS;
      if (isLast || !outcome.mayPass || !this.mayRepeat()) throw outcome.error;
      await this.#wait(Math.min(WAIT_MAX_MS, WAIT_MIN_MS * 2 ** (sent - 1)) * (0.5 + Math.random() / 2));
    }
  }

  /** The key for the next request. */
  async credential(): Promise<Credential> {
    const credential = this.#credential;
    const endsSoon = (credential.expiresAtMs ?? Infinity) < Date.now() + KEY_LEFT_MIN_MS;
    if (endsSoon && this.#use.renew !== undefined) await this.#renew(credential);
    return this.#credential;
  }

  async #renew(credential: Credential): Promise<void> {
    const next = await this.#use.renew?.(credential);
    if (next === undefined) return;
    if (!isLike(credential, next)) throw new SkeinError('STORAGE_ERROR', 'another store’s key came for this one');
    this.#credential = next;
  }

  async #wait(ms: number): Promise<void> {
    const { signal } = this.#use;
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      signal?.throwIfAborted();
    }
  }

  async #sendOnce(request: Request, accepted: readonly number[], credential: Credential): Promise<Outcome> {
    const { send, errorOf, repeatedCodes, isRead } = this.#protocol;
    const { signal } = this.#use;
    try {
      const answer = await send(credential, request, { bytesMax: ANSWER_BYTES_MAX, signal });
      if ((answer.status >= 200 && answer.status < 300) || accepted.includes(answer.status)) {
        // Only a part of an object is worth something when it is cut.
        if (!answer.isCut || isRead(request)) return { answer };
        return { error: new Error('the answer was cut'), mayPass: true, isKeyRefused: false };
      }
      const error = errorOf(answer);
      const mayPass = answer.isCut || REPEATED_STATUS.has(error.status) || repeatedCodes.has(error.code);
      return { error, mayPass, isKeyRefused: isRefusedKey(error) };
    } catch (error) {
      // The connection failed, whatever the reason.
      const mayPass = !(error instanceof AnswerTooLarge) && signal?.aborted !== true;
      return { error, mayPass, isKeyRefused: false };
    }
  }
}

const isLike = <Credential extends StoreCredential>(old: Credential, next: StoreCredential): next is Credential =>
  next.kind === old.kind;

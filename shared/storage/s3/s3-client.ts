import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Credential } from '#shared/storage/credential.ts';
import { RepeatBudget, type StorageUse } from '#shared/storage/storage-use.ts';
import { REFUSED_KEY_CODES, s3Error, S3Error } from './s3-error.ts';
import { AnswerTooLarge, escapeUri, sendSigned, type AwsAnswer, type AwsRequest } from './signed-request.ts';

/** A request for an object, or for the bucket when the key is empty. */
export type ObjectRequest = Pick<AwsRequest, 'method' | 'query' | 'headers' | 'body' | 'unsigned'> & {
  readonly bucket: string;
  /** As it is; not escaped. */
  readonly key: string;
  /** Largest body of an answer; default: that of a list or an error. */
  readonly answerBytesMax?: number;
};

export type ObjectAnswer = AwsAnswer & {
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
/** A key with less than this to live is renewed before it is used. */
const KEY_LEFT_MIN_MS = 5_000;

const REPEATED_STATUS: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Refusals that pass: another write of the same name is running; the body was too slow, or did not arrive as it was sent. */
const REPEATED_CODES: ReadonlySet<string> = new Set([
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
]);

type Outcome =
  | { readonly answer: AwsAnswer }
  | { readonly error: unknown; readonly mayPass: boolean; readonly isKeyRefused: boolean };

/** Sends requests to a bucket, and again while an error may pass. */
export class S3Client {
  readonly #use: StorageUse;
  readonly #repeats: RepeatBudget;
  #credential: S3Credential;

  constructor(credential: S3Credential, use: StorageUse = {}) {
    this.#credential = credential;
    this.#use = use;
    this.#repeats = use.repeats ?? new RepeatBudget();
  }

  /** The same after the signal of the statement: what it began is ended nevertheless. */
  detached(): S3Client {
    const { signal: _signal, ...use } = this.#use;
    return new S3Client(this.#credential, use);
  }

  /** Whether a request may be sent again. Also for bodies whose bytes are wrong, and which a caller asks for again. */
  mayRepeat(): boolean {
    return this.#repeats.take();
  }

  /**
   * Sends a request until it is answered. A body that ended early is given as it is (`isCut`): who reads a range goes on from there.
   * @param accepted statuses beyond 2xx that are answers, too
   * @throws S3Error, or the error of the connection
   */
  async send(request: ObjectRequest, accepted: readonly number[] = []): Promise<ObjectAnswer> {
    const beganMs = performance.now();
    let hasRenewed = false;
    for (let sent = 1; ; sent++) {
      this.#use.signal?.throwIfAborted();
      const credential = await this.#current();
      const outcome = await this.#sendOnce(request, accepted, credential);
      if ('answer' in outcome) {
        this.#repeats.answered();
        return { ...outcome.answer, sent };
      }
      if (outcome.isKeyRefused && !hasRenewed && this.#use.renew !== undefined) {
        hasRenewed = true;
        // Another request may have renewed it meanwhile.
        if (this.#credential === credential) this.#credential = await this.#use.renew(credential);
        continue;
      }
      const isLast = sent >= SENDS_MAX || performance.now() - beganMs > TIME_MAX_MS;
      if (isLast || !outcome.mayPass || !this.mayRepeat()) throw outcome.error;
      await this.#wait(Math.min(WAIT_MAX_MS, WAIT_MIN_MS * 2 ** (sent - 1)) * (0.5 + Math.random() / 2));
    }
  }

  /** The key for the next request. */
  async #current(): Promise<S3Credential> {
    const credential = this.#credential;
    const { renew } = this.#use;
    if (renew !== undefined && (credential.expiresAtMs ?? Infinity) < Date.now() + KEY_LEFT_MIN_MS) {
      this.#credential = await renew(credential);
    }
    return this.#credential;
  }

  async #wait(ms: number): Promise<void> {
    const { signal } = this.#use;
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      signal?.throwIfAborted();
    }
  }

  async #sendOnce(
    { bucket, key, answerBytesMax = ANSWER_BYTES_MAX, ...request }: ObjectRequest,
    accepted: readonly number[],
    credential: S3Credential,
  ): Promise<Outcome> {
    const { endpoint, path } = objectAddress(credential, bucket, key);
    const { signal } = this.#use;
    try {
      const answer = await sendSigned(credential, {
        ...request,
        service: 's3',
        endpoint,
        path,
        answerBytesMax,
        signal,
      });
      if ((answer.status >= 200 && answer.status < 300) || accepted.includes(answer.status)) {
        // Only a part of an object is worth something when it is cut.
        if (!answer.isCut || (request.method === 'GET' && key !== '')) return { answer };
        return { error: new Error('the answer was cut'), mayPass: true, isKeyRefused: false };
      }
      const error = s3Error(answer);
      const mayPass = answer.isCut || REPEATED_STATUS.has(error.status) || REPEATED_CODES.has(error.code);
      // The answer to HEAD has no code.
      const isKeyRefused = REFUSED_KEY_CODES.has(error.code) || (error.status === 403 && error.code === '');
      return { error, mayPass, isKeyRefused };
    } catch (error) {
      // The connection failed, whatever the reason.
      const mayPass = !(error instanceof AnswerTooLarge) && signal?.aborted !== true;
      return { error, mayPass, isKeyRefused: false };
    }
  }
}

/** The address of a store; without an endpoint that of AWS for the region. */
export const storeAddress = ({ endpoint, region }: Pick<S3Credential, 'endpoint' | 'region'>): string =>
  endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** The host and the escaped path of an object. */
export function objectAddress(
  { endpoint, region, pathStyle }: Pick<S3Credential, 'endpoint' | 'region' | 'pathStyle'>,
  bucket: string,
  key: string,
): { readonly endpoint: string; readonly path: string } {
  const base = storeAddress({ endpoint, region });
  const path = `/${key.split('/').map(escapeUri).join('/')}`;
  if (pathStyle) return { endpoint: base, path: `/${bucket}${path === '/' ? '' : path}` };
  const url = new URL(base);
  return { endpoint: `${url.protocol}//${bucket}.${url.host}`, path };
}

export const isMissing = (error: unknown): boolean =>
  error instanceof S3Error && (error.status === 404 || error.code === 'NoSuchKey');

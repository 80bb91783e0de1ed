import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Credential } from '#shared/storage/credential.ts';
import { s3Error, S3Error } from './s3-error.ts';
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

const REPEATED_STATUS: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Refusals that pass: another write of the same name is running; the body was too slow. */
const REPEATED_CODES: ReadonlySet<string> = new Set([
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
]);

/** Sends requests to a bucket, and again while an error may pass. */
export class S3Client {
  readonly #credential: S3Credential;

  constructor(credential: S3Credential) {
    this.#credential = credential;
  }

  /**
   * Sends a request until it is answered. A body that ended early is given as it is (`isCut`): who reads a range goes on from there.
   * @param accepted statuses beyond 2xx that are answers, too
   * @throws S3Error, or the error of the connection
   */
  async send(request: ObjectRequest, accepted: readonly number[] = []): Promise<ObjectAnswer> {
    const beganMs = performance.now();
    for (let sent = 1; ; sent++) {
      const outcome = await this.#sendOnce(request, accepted);
      if ('answer' in outcome) return { ...outcome.answer, sent };
      const isLast = sent >= SENDS_MAX || performance.now() - beganMs > TIME_MAX_MS;
      if (isLast || !outcome.mayPass) throw outcome.error;
      await sleep(Math.min(WAIT_MAX_MS, WAIT_MIN_MS * 2 ** (sent - 1)) * (0.5 + Math.random() / 2));
    }
  }

  async #sendOnce(
    { bucket, key, answerBytesMax = ANSWER_BYTES_MAX, ...request }: ObjectRequest,
    accepted: readonly number[],
  ): Promise<{ readonly answer: AwsAnswer } | { readonly error: unknown; readonly mayPass: boolean }> {
    const { endpoint, path } = addressOf(this.#credential, bucket, key);
    try {
      const answer = await sendSigned(this.#credential, { ...request, service: 's3', endpoint, path, answerBytesMax });
      if ((answer.status >= 200 && answer.status < 300) || accepted.includes(answer.status)) {
        // Only a part of an object is worth something when it is cut.
        if (!answer.isCut || request.method === 'GET') return { answer };
        return { error: new Error('the answer was cut'), mayPass: true };
      }
      const error = s3Error(answer);
      return { error, mayPass: REPEATED_STATUS.has(error.status) || REPEATED_CODES.has(error.code) };
    } catch (error) {
      // The connection failed, whatever the reason.
      return { error, mayPass: !(error instanceof AnswerTooLarge) };
    }
  }
}

/** The host and the escaped path of an object. */
function addressOf(
  { endpoint, region, pathStyle }: S3Credential,
  bucket: string,
  key: string,
): { readonly endpoint: string; readonly path: string } {
  const base = endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const path = `/${key.split('/').map(escapeUri).join('/')}`;
  if (pathStyle) return { endpoint: base, path: `/${bucket}${path === '/' ? '' : path}` };
  const url = new URL(base);
  return { endpoint: `${url.protocol}//${bucket}.${url.host}`, path };
}

export const isMissing = (error: unknown): boolean =>
  error instanceof S3Error && (error.status === 404 || error.code === 'NoSuchKey');

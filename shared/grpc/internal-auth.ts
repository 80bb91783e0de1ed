import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { cutText } from '#shared/cut-text.ts';
import { ERRORS, SkeinError, type ErrorData } from '#shared/error.ts';
import { sameText, type Keyring } from '#shared/keyring.ts';

/** Metadata key of the catalogue's error, JSON of `ErrorData`, on every failed internal call. */
const ERROR_KEY = 'skein-error-bin';
/**
 * Bytes of an error's JSON, and characters of the status beside it. They travel as headers, base64 and percent-encoded: one list of
 * headers that is too long (8 KB for many clients) ends the connection, and with it every other call. What a task failed with is sent
 * whole in a message's body.
 */
const ERROR_JSON_BYTES_MAX = 2 * 1024;
const DETAILS_MAX = 256;

/** What every internal call carries. */
export function internalMetadata({ current }: Keyring): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${current}`);
  return metadata;
}

/** @throws UNAUTHENTICATED unless the call carries a secret that the cluster accepts. */
export function requireSecret(metadata: Metadata, { accepted }: Keyring): void {
  const [header] = metadata.get('authorization');
  if (typeof header !== 'string' || !accepted.some((secret) => secret !== '' && sameText(header, `Bearer ${secret}`))) {
    throw new SkeinError('UNAUTHENTICATED', 'this port is for the services of the cluster');
  }
}

/** Any thrown value as the status of a gRPC call; a message that is too long for one is cut. */
export function toServiceError(thrown: unknown): Partial<ServiceError> {
  const error = SkeinError.of(thrown);
  const metadata = new Metadata();
  metadata.set(ERROR_KEY, shortJson(error.toData()));
  const details = cutText(error.message, DETAILS_MAX).replaceAll(/[^ -~]/g, '?');
  return { code: ERRORS[error.code].grpc, details, metadata };
}

/** The message as long as fits: JSON writes some characters in six. */
function shortJson(data: ErrorData): Buffer {
  for (let bytesMax = ERROR_JSON_BYTES_MAX; ; bytesMax = Math.floor(bytesMax / 2)) {
    const json = Buffer.from(JSON.stringify({ ...data, message: cutText(data.message, bytesMax) }));
    if (json.length <= ERROR_JSON_BYTES_MAX) return json;
  }
}

/** An error as it travels in the body of a message: JSON of `ErrorData`. */
export const encodeError = (error: SkeinError): Buffer => Buffer.from(JSON.stringify(error.toData()));

/** The error that `json` says; INTERNAL_ERROR when it is none, or one of another release. */
export function decodeError(json: Uint8Array): SkeinError {
  try {
    return readError(JSON.parse(Buffer.from(json).toString()) as Partial<ErrorData> | null);
  } catch {
    return readError(null);
  }
}

/** As `decodeError`, of what JSON said. */
export function readError(data: Partial<ErrorData> | null): SkeinError {
  const { code, message } = data ?? {};
  if (code !== undefined && Object.hasOwn(ERRORS, code) && typeof message === 'string') {
    return SkeinError.fromData({ ...data, code, message });
  }
  return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: new Error('a service sent an unknown error') });
}

/** Whether a failed call was answered by a service of the cluster, and did not fail on its way. */
export const isAnswer = (thrown: unknown): boolean =>
  (thrown as Partial<ServiceError>).metadata?.get(ERROR_KEY)[0] instanceof Buffer;

const UNANSWERED_STATUS: ReadonlySet<status | undefined> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);
/** What a call that nobody answered may mean, and what it says of it. */
const UNANSWERED = {
  WORKER_LOST: 'a worker was lost',
  CONNECTION_LOST: 'the connection to a worker broke',
  CATALOG_UNAVAILABLE: 'the catalog does not answer',
} as const;

/**
 * The error of a failed internal call; `unavailable` is the code to use when the peer could not be reached, or the connection broke. A call
 * of a task that says it was cancelled has not been by us: whoever cancels one knows why, and does not ask.
 */
export function fromServiceError(thrown: unknown, unavailable: keyof typeof UNANSWERED): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const error = thrown as Partial<ServiceError>;
  const [data] = error.metadata?.get(ERROR_KEY) ?? [];
  if (data instanceof Buffer) return decodeError(data);
  if (error.code === status.CANCELLED && unavailable !== 'CONNECTION_LOST')
    return new SkeinError('QUERY_CANCELLED', 'the call was cancelled', { cause: thrown });
  if (UNANSWERED_STATUS.has(error.code)) {
    return new SkeinError(unavailable, UNANSWERED[unavailable], { cause: thrown });
  }
  return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: thrown });
}

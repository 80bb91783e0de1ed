import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { cutText } from '#shared/cut-text.ts';
import { ERRORS, SkeinError, type ErrorData } from '#shared/error.ts';
import { sameText, type Keyring } from '#shared/keyring.ts';

/** Metadata key of every failed internal call: the catalogue's error, as JSON of `ErrorData`. */
const ERROR_KEY = 'skein-error-bin';
/**
 * Maximum bytes of an error's JSON, and characters of the status beside it. They travel as headers, base64 and percent-encoded: a header
 * list that is too long (8 KB for many clients) ends the connection, and with it every other call. The error of a failed task is sent in
 * full, in a message's body.
 */
const ERROR_JSON_BYTES_MAX = 2 * 1024;
const DETAILS_MAX = 256;

/** Returns the metadata of every internal call: the cluster's secret. */
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

/** Converts any thrown value to the status of a gRPC call; a message that is too long is cut. */
export function toServiceError(thrown: unknown): Partial<ServiceError> {
  const error = SkeinError.of(thrown);
  const metadata = new Metadata();
  metadata.set(ERROR_KEY, shortJson(error.toData()));
  const details = cutText(error.message, DETAILS_MAX).replaceAll(/[^ -~]/g, '?');
  return { code: ERRORS[error.code].grpc, details, metadata };
}

/** The catalogue's error in the status of a failed call, as `decodeError` reads it; INTERNAL_ERROR when it has none. */
export function errorJson({ metadata }: Partial<ServiceError>): Buffer {
  const [data] = metadata?.get(ERROR_KEY) ?? [];
  return data instanceof Buffer ? data : shortJson(new SkeinError('INTERNAL_ERROR', 'internal error').toData());
}

/** Prints the error with as much of its message as fits: JSON needs six characters for some. */
function shortJson(data: ErrorData): Buffer {
  for (let bytesMax = ERROR_JSON_BYTES_MAX; ; bytesMax = Math.floor(bytesMax / 2)) {
    const json = Buffer.from(JSON.stringify({ ...data, message: cutText(data.message, bytesMax) }));
    if (json.length <= ERROR_JSON_BYTES_MAX) return json;
  }
}

/** Encodes an error for the body of a message: JSON of `ErrorData`. */
export const encodeError = (error: SkeinError): Buffer => Buffer.from(JSON.stringify(error.toData()));

/** Decodes an error; any other JSON, also an error of another release, becomes INTERNAL_ERROR. */
export function decodeError(json: Uint8Array): SkeinError {
  try {
    return readError(JSON.parse(Buffer.from(json).toString()) as Partial<ErrorData> | null);
  } catch {
    return readError(null);
  }
}

/** Like `decodeError`, for parsed JSON. */
export function readError(data: Partial<ErrorData> | null): SkeinError {
  const { code, message } = data ?? {};
  if (code !== undefined && Object.hasOwn(ERRORS, code) && typeof message === 'string') {
    return SkeinError.fromData({ ...data, code, message });
  }
  return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: new Error('a service sent an unknown error') });
}

/** Whether a failed call was answered by a service of the cluster; otherwise it failed on the network. */
export const isAnswer = (thrown: unknown): boolean =>
  (thrown as Partial<ServiceError>).metadata?.get(ERROR_KEY)[0] instanceof Buffer;

/**
 * The statuses of a call that no service answered. INTERNAL and UNKNOWN are grpc-js's names for a stream that ended otherwise than a service
 * ends one: a socket whose network was unplugged (EPIPE, EHOSTUNREACH), or no status at its end.
 */
const UNANSWERED_STATUS: ReadonlySet<status | undefined> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.INTERNAL,
  status.UNKNOWN,
]);
/** The codes of an unanswered call, with their messages. */
const UNANSWERED = {
  WORKER_LOST: 'a worker was lost',
  CONNECTION_LOST: 'the connection to a worker broke',
  CATALOG_UNAVAILABLE: 'the catalog does not answer',
} as const;

export type Unanswered = keyof typeof UNANSWERED;

/** The error of a call that no service answered. */
export const unanswered = (code: Unanswered, cause?: unknown): SkeinError =>
  new SkeinError(code, UNANSWERED[code], { cause });

/**
 * Converts the failure of an internal call to an error; `unavailable` is the code for an unreachable peer or a broken connection. For
 * CONNECTION_LOST, a cancelled call counts as lost, not as cancelled by this process: a process that cancels a call to a task does not ask
 * for its error.
 */
export function fromServiceError(thrown: unknown, unavailable: Unanswered): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const error = thrown as Partial<ServiceError>;
  const [data] = error.metadata?.get(ERROR_KEY) ?? [];
  if (data instanceof Buffer) return decodeError(data);
  if (error.code === status.CANCELLED && unavailable !== 'CONNECTION_LOST')
    return new SkeinError('QUERY_CANCELLED', 'the call was cancelled', { cause: thrown });
  if (UNANSWERED_STATUS.has(error.code)) return unanswered(unavailable, thrown);
  return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: thrown });
}

import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { ERRORS, SkeinError, type ErrorData } from '#shared/error.ts';
import { sameText, type Keyring } from '#shared/keyring.ts';

/** Metadata key of the catalogue's error, JSON of `ErrorData`, on every failed internal call. */
const ERROR_KEY = 'skein-error-bin';

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

/** Any thrown value as the status of a gRPC call. */
export function toServiceError(thrown: unknown): Partial<ServiceError> {
  const error = SkeinError.of(thrown);
  const metadata = new Metadata();
  metadata.set(ERROR_KEY, Buffer.from(JSON.stringify(error.toData())));
  return { code: ERRORS[error.code].grpc, details: error.message, metadata };
}

/** Whether a failed call was answered by a service of the cluster, and did not fail on its way. */
export const isAnswer = (thrown: unknown): boolean =>
  (thrown as Partial<ServiceError>).metadata?.get(ERROR_KEY)[0] instanceof Buffer;

/** The error of a failed internal call; `unavailable` is the code to use when the peer could not be reached at all. */
export function fromServiceError(thrown: unknown, unavailable: 'WORKER_LOST' | 'CATALOG_UNAVAILABLE'): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const error = thrown as Partial<ServiceError>;
  const [data] = error.metadata?.get(ERROR_KEY) ?? [];
  if (data instanceof Buffer) return SkeinError.fromData(JSON.parse(data.toString()) as ErrorData);
  if (error.code === status.CANCELLED)
    return new SkeinError('QUERY_CANCELLED', 'the call was cancelled', { cause: thrown });
  if (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED) {
    return new SkeinError(
      unavailable,
      unavailable === 'WORKER_LOST' ? 'a worker was lost' : 'the catalog does not answer',
      { cause: thrown },
    );
  }
  return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: thrown });
}

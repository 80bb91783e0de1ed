import { createHash } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { timeOfUuidV7 } from '#shared/uuid-v7.ts';
import type { OpenRequest } from './rest-operation.ts';

/** Returns the `Idempotency-Key` of a request. @throws INVALID_REQUEST when it is no UUID of version 7 */
export function idempotencyKeyOf(request: Pick<OpenRequest, 'headers'>): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || timeOfUuidV7(key) === undefined) {
    throw new SkeinError('INVALID_REQUEST', 'Invalid Idempotency-Key: it must be a UUID of version 7');
  }
  return key.toLowerCase();
}

/** Hashes what must be equal when a request is sent again under its key. @param url with its query */
export const requestHash = (method: string, url: string, body: Buffer): Buffer =>
  createHash('sha256').update(`${method} ${url}\n`).update(body).digest();

/** Formats a duration as ISO 8601, the form in clients' configuration. */
export const isoDuration = (ms: number): string => `PT${Math.floor(ms / 1_000)}S`;

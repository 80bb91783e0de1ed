import { parseDuration } from '#shared/config/parse-setting.ts';
import { SkeinError } from '#shared/error.ts';
import type { Properties } from '../metadata/table-document.ts';

/** Properties of a stage that it has by itself; others are refused, because nothing would follow them. */
const KNOWN: ReadonlySet<string> = new Set(['comment', 'owner', 'upload_ttl']);
const UPLOAD_TTL_MIN_MS = 1_000;
const UPLOAD_TTL_MAX_MS = 30 * 86_400_000;

/** @throws INVALID_REQUEST */
export function checkStageProperties(properties: Properties): void {
  const unknown = Object.keys(properties).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) {
    throw new SkeinError('INVALID_REQUEST', `a stage has no property ${unknown}: it has ${[...KNOWN].join(', ')}`);
  }
  uploadTtlMs(properties, UPLOAD_TTL_MIN_MS);
}

/** Time after which an upload into the stage that was not completed is deleted. @throws INVALID_REQUEST */
export function uploadTtlMs({ upload_ttl: text }: Properties, otherwiseMs: number): number {
  if (text === undefined) return otherwiseMs;
  let ttlMs: number;
  try {
    ttlMs = parseDuration(text);
  } catch (error) {
    throw new SkeinError('INVALID_REQUEST', `upload_ttl: ${(error as Error).message}`, { cause: error });
  }
  if (ttlMs >= UPLOAD_TTL_MIN_MS && ttlMs <= UPLOAD_TTL_MAX_MS) return ttlMs;
  throw new SkeinError('INVALID_REQUEST', 'upload_ttl is 1s to 30d');
}

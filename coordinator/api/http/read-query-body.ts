import { checkJson } from '#shared/check-json.ts';
import { SkeinError } from '#shared/error.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';

/** JSON values of a body. */
const VALUES_MAX = 100;

/** A body of POST /api/query as it was parsed; `checkQueryBody` checks its members. @throws INVALID_REQUEST */
export function readQueryBody(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  // Before the parser makes an object of each bracket.
  checkJson(text, VALUES_MAX);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'the request is not valid JSON or not a valid request', { cause });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('the body must be a JSON object');
  if ('sql' in body && typeof body.sql === 'string' && !/\S/.test(body.sql)) throw invalid(BLANK);
  return body as Readonly<Record<string, unknown>>;
}

export const BLANK = 'sql must be a string that is not empty';

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);

/** The parts of a body in which `timeout_ms` is looked for before it is parsed: what else is long is the statement. */
const GLIMPSE_BYTES = 1_024;
const TIMEOUT_MEMBER = /"timeout_ms"\s{0,100}:\s{0,100}([1-9]\d{0,14})/;

/**
 * The `timeout_ms` of a body that nobody has parsed yet, because a large body waits for a thread and its time counts meanwhile. Undefined
 * when it stands neither at the beginning nor at the end. The name in quotes, followed by a colon, cannot be a part of the statement:
 * quotes in a JSON string are escaped.
 */
export function glimpseTimeout(bytes: Buffer): number | undefined {
  for (const part of [bytes.subarray(0, GLIMPSE_BYTES), bytes.subarray(-GLIMPSE_BYTES)]) {
    const [, digits] = TIMEOUT_MEMBER.exec(part.toString('latin1')) ?? [];
    if (digits !== undefined) return Number(digits);
  }
  return undefined;
}

const MODULE = new URL('../../texts-in-thread.ts', import.meta.url);

export const READ_QUERY_BODY = sizedWork(readQueryBody, MODULE, 'readLargeBody');

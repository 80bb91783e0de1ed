import { checkJson } from '#shared/check-json.ts';
import { SkeinError } from '#shared/error.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';

/** The body of POST /api/query. */
export type QueryBody = { readonly sql: string; readonly timeoutMs: number | undefined };

type ReadInput = { readonly bytes: Uint8Array; readonly timeoutMsMax: number };

/** JSON values of a body; it has two members. */
const VALUES_MAX = 100;

/** @throws INVALID_REQUEST */
export function readQueryBody({ bytes, timeoutMsMax }: ReadInput): QueryBody {
  const {
    sql,
    timeout_ms: timeoutMs,
    ...rest
  } = parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw invalid(`unknown member ${JSON.stringify(unknown.slice(0, 100))} in the body`);
  if (typeof sql !== 'string' || !/\S/.test(sql)) throw invalid('sql must be a string that is not empty');
  if (timeoutMs === undefined || timeoutMs === null) return { sql, timeoutMs: undefined };
  if (!Number.isSafeInteger(timeoutMs) || (timeoutMs as number) < 1 || (timeoutMs as number) > timeoutMsMax) {
    throw invalid(`timeout_ms must be an integer from 1 to ${timeoutMsMax}`);
  }
  return { sql, timeoutMs: timeoutMs as number };
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  const text = bytes.toString();
  // Before the parser makes an object of each bracket.
  checkJson(text, VALUES_MAX);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'the request is not valid JSON or not a valid request', { cause });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('the body must be a JSON object');
  return body as Readonly<Record<string, unknown>>;
}

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

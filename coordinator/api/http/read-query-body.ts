import { checkJson } from '#shared/check-json.ts';
import { SkeinError } from '#shared/error.ts';
import { PARAMETERS_MAX, type Constant, type Parameter, type Parameters } from '../../statement/parameters.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';

/** A body of POST /api/query: its parameters, and the other members, which `checkQueryBody` checks. */
export type ReadQueryBody = {
  readonly members: Readonly<Record<string, unknown>>;
  readonly parameters: Parameters | null;
};

/** JSON values of a body: its members, and each parameter as `{type, value}`. */
const VALUES_MAX = 100 + 3 * PARAMETERS_MAX;

/** @throws INVALID_REQUEST */
export function readQueryBody(bytes: Uint8Array): ReadQueryBody {
  const { parameters, ...members } = parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  const plain = Object.entries(members).map(([name, value]) => [
    name,
    value instanceof NumberText ? Number(value.digits) : value,
  ]);
  return { members: Object.fromEntries(plain), parameters: readParameters(parameters) };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  // Before the parser makes an object of each bracket.
  checkJson(text, VALUES_MAX);
  let body: unknown;
  try {
    body = JSON.parse(text, withDigits);
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'the request is not valid JSON or not a valid request', { cause });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('the body must be a JSON object');
  if ('sql' in body && typeof body.sql === 'string' && !/\S/.test(body.sql)) throw invalid(BLANK);
  return body as Readonly<Record<string, unknown>>;
}

export const PARAMETERS_RULE = 'parameters must be a list or an object';
export const BLANK = 'sql must be a string that is not empty';

/** A number as the body has it: a double would lose digits. */
class NumberText {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

const withDigits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;

/**
 * The member `parameters`: a list for `?` and `$1`, or an object for `$name`. A value is a JSON value, or `{"type": "DATE", "value": ...}`.
 * @throws INVALID_REQUEST
 */
function readParameters(given: unknown): Parameters | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'object' || given instanceof NumberText) throw invalid(PARAMETERS_RULE);
  const entries = Object.entries(given);
  if (entries.length > PARAMETERS_MAX) throw invalid(`a statement has at most ${PARAMETERS_MAX} parameters`);
  if (Array.isArray(given)) return { kind: 'positional', values: given.map(readParameter) };
  return { kind: 'named', values: entries.map(([name, value]) => [name, readParameter(value)]) };
}

function readParameter(given: unknown): Parameter {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof NumberText) {
    return { type: null, value: constantOf(given) };
  }
  const { type, value, ...rest } = given as Readonly<Record<string, unknown>>;
  if (typeof type !== 'string' || value === undefined || Object.keys(rest).length > 0) {
    throw invalid('a parameter is a value or {"type": "DATE", "value": ...}');
  }
  return { type, value: constantOf(value) };
}

function constantOf(value: unknown): Constant {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (value instanceof NumberText) return { digits: value.digits };
  if (Array.isArray(value)) return value.map(constantOf);
  throw invalid('the value of a parameter holds an object');
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);

/** Bytes at each end of a body in which `timeout_ms` is searched before it is parsed; the long part between is the statement. */
const GLIMPSE_BYTES = 1_024;
const TIMEOUT_MEMBER = /"timeout_ms"\s{0,100}:\s{0,100}([1-9]\d{0,14})/;

/**
 * Finds the `timeout_ms` of a body before it is parsed, because a large body waits for a thread while its time runs. Undefined when it
 * stands neither at the beginning nor at the end. The name in quotes and a colon cannot be part of the statement, because quotes in a JSON
 * string are escaped.
 */
export function glimpseTimeout(bytes: Buffer): number | undefined {
  for (const part of [bytes.subarray(0, GLIMPSE_BYTES), bytes.subarray(-GLIMPSE_BYTES)]) {
    const [, digits] = TIMEOUT_MEMBER.exec(part.toString('latin1')) ?? [];
    if (digits !== undefined) return Number(digits);
  }
  return undefined;
}

const MODULE = new URL('./query-body-in-thread.ts', import.meta.url);

export const READ_QUERY_BODY = sizedWork(readQueryBody, MODULE, 'readLargeBody');

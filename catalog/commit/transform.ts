import { refuse } from './json-reader.ts';

/** Partition and sort transforms (table spec, "Partition Transforms"). Pure. */

const PARAMETRIC = /^(bucket|truncate)\[(\d{1,9})\]$/;
const TEMPORAL = ['date', 'timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns'];
const TIMESTAMPS = TEMPORAL.slice(1);
const BUCKETED = [...TEMPORAL, 'int', 'long', 'time', 'string', 'uuid', 'binary'];
const TRUNCATED = ['int', 'long', 'string', 'binary'];
const NOT_IDENTITY = /^(variant|geometry|geography|unknown)/;

/** Canonical spelling. @throws INVALID_REQUEST on one that the specification does not have. */
export function parseTransform(text: string): string {
  const name = text.toLowerCase();
  if (['identity', 'void', 'year', 'month', 'day', 'hour'].includes(name)) return name;
  const match = PARAMETRIC.exec(name);
  if (match === null || Number(match[2]) < 1) return refuse(`Cannot parse transform: ${text}`);
  return `${match[1]}[${Number(match[2])}]`;
}

/** Whether a transform in canonical spelling applies to a primitive type. */
export function canTransform(transform: string, type: string): boolean {
  const [kind = ''] = transform.split('[', 1);
  switch (kind) {
    case 'identity':
      return !NOT_IDENTITY.test(type);
    case 'void':
      return true;
    case 'bucket':
      return BUCKETED.includes(type) || type.startsWith('decimal') || type.startsWith('fixed');
    case 'truncate':
      return TRUNCATED.includes(type) || type.startsWith('decimal');
    case 'year':
    case 'month':
    case 'day':
      return TEMPORAL.includes(type);
    case 'hour':
      return TIMESTAMPS.includes(type);
    default:
      return false;
  }
}

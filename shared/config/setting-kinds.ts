import { invalidSetting, parseAddress, parseBytes, parseDuration, parseAutoBytes, type Auto } from './parse-setting.ts';
import { checkedProfiles } from './storage-profiles.ts';

/** One setting: its kind, default and meaning. */
export type Key<T> = {
  readonly type: 'string' | 'integer' | 'bytes' | 'duration' | 'list' | 'map';
  readonly default: T;
  readonly doc: string;
  readonly secret: boolean;
  /** Parses a text; throws INVALID_CONFIGURATION with the expected form (the caller names the key). */
  readonly parse: (text: string) => T;
};

export const string = (value: string, doc: string): Key<string> => ({
  type: 'string',
  default: value,
  doc,
  secret: false,
  parse: (t) => t,
});
/** The address of a service, by http or https. */
export const address = (value: string, doc: string): Key<string> => ({ ...string(value, doc), parse: parseAddress });
export const secret = (doc: string): Key<string> => ({ ...string('', doc), secret: true });
export const bytes = (value: number, doc: string): Key<number> => ({
  type: 'bytes',
  default: value,
  doc,
  secret: false,
  parse: parseBytes,
});
export const duration = (valueMs: number, doc: string): Key<number> => ({
  type: 'duration',
  default: valueMs,
  doc,
  secret: false,
  parse: parseDuration,
});
export const list = (doc: string): Key<readonly string[]> => ({
  type: 'list',
  default: [],
  doc,
  secret: false,
  parse: (t) =>
    t
      .split(',')
      .map((x) => x.trim())
      .filter((x) => x !== ''),
});
/** Three sizes: of an interactive, a medium and a batch query. */
export const sizes = (value: readonly [string, string, string], doc: string): Key<readonly string[]> => ({
  ...list(doc),
  default: value,
  parse: (t) => {
    const given = t.split(',').map((one) => one.trim());
    if (given.length === 3 && given.map(parseBytes).every((size) => size >= 1)) return given;
    return invalidSetting('three sizes such as 256MB,512MB,1GB', t);
  },
});
/** Times to wait, each for the next turn. */
export const waits = (value: readonly string[], doc: string): Key<readonly string[]> => ({
  ...list(doc),
  default: value,
  parse: (t) => {
    const given = t.split(',').map((one) => one.trim());
    return given.map(parseDuration).every((ms) => ms >= 1) ? given : invalidSetting('durations such as 30s,2m,8m', t);
  },
});
export const integer = (value: number, min: number, max: number, doc: string): Key<number> => ({
  type: 'integer',
  default: value,
  doc,
  secret: false,
  parse: (t) => {
    const n = /^\s*-?\d+\s*$/.test(t) ? Number(t) : Number.NaN;
    return n >= min && n <= max ? n : invalidSetting(`an integer from ${min} to ${max}`, t);
  },
});
export const decimal = (value: number, min: number, max: number, doc: string): Key<number> => ({
  ...integer(value, min, max, doc),
  parse: (t) => {
    const n = /^\s*\d+(\.\d+)?\s*$/.test(t) ? Number(t) : Number.NaN;
    return n >= min && n <= max ? n : invalidSetting(`a number from ${min} to ${max}`, t);
  },
});
/** A size; or `auto`, which the service works out. */
export const autoBytes = (doc: string): Key<Auto> => ({
  ...string('auto', doc),
  default: 'auto',
  parse: parseAutoBytes,
});
/** A number; or `cores`, which stands for that of the live workers. */
export const rate = (doc: string): Key<number | 'cores'> => ({
  ...string('cores', doc),
  default: 'cores',
  parse: (t) => (t.trim() === 'cores' ? 'cores' : decimal(0, 0, 1_000_000, doc).parse(t)),
});
export const choice = <T extends string>(value: T, others: readonly T[], doc: string): Key<T> => ({
  type: 'string',
  default: value,
  doc,
  secret: false,
  parse: (t) => {
    const found = [value, ...others].find((one) => one === t.trim());
    return found ?? invalidSetting([value, ...others].join(' or '), t);
  },
});
export const profiles = (doc: string): Key<string> => ({ ...string('', doc), type: 'map', parse: checkedProfiles });
export const port = (value: number, doc: string): Key<number> =>
  integer(value, 0, 65_535, `${doc} (0 = any free port)`);

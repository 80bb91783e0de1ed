import { SkeinError } from '#shared/error.ts';

/** @throws INVALID_CONFIGURATION */
export const invalidSetting = (expected: string, text: string): never => {
  throw new SkeinError('INVALID_CONFIGURATION', `expected ${expected}, got ${JSON.stringify(text)}`);
};

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};
const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, min: 60e3, h: 3600e3, d: 86400e3 };

/** Parses `512MB`, `4 GiB` or `1000` to bytes. */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = match === null ? undefined : BYTE_UNITS[(match[2] ?? '').toUpperCase()];
  if (match === null || unit === undefined) return invalidSetting('a size such as 512MB or 4GiB', text);
  return Math.floor(Number(match[1]) * unit);
}

/** A size that the service works out. */
export type Auto = number | 'auto';

export const parseAutoBytes = (text: string): Auto => (text.trim() === 'auto' ? 'auto' : parseBytes(text));

/** Parses `250ms`, `30s`, `5m`, `1h` or `7d` to milliseconds; a bare number is milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = match === null ? undefined : DURATION_UNITS[(match[2] || 'ms').toLowerCase()];
  if (match === null || unit === undefined) return invalidSetting('a duration such as 250ms, 30s, 5m or 1h', text);
  return Math.round(Number(match[1]) * unit);
}

/** The address of a service, by http or https; an empty text is none. */
export function parseAddress(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  const isAddress = text === '' || protocol === 'http:' || protocol === 'https:';
  return isAddress ? text : invalidSetting('an address such as https://skein.example.com', text);
}

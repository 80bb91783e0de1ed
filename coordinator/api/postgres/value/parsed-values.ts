import type { GrowingBytes } from './growing-bytes.ts';

const [ZERO, MINUS, POINT] = [0x30, 0x2d, 0x2e];
const NEGATIVE = 0x40_00;
const GROUP = 4;

/** A decimal number in digits as Postgres' numeric: digits in groups of four around the point; count, weight of the first, sign, scale, groups. */
export function writeNumeric(out: GrowingBytes, text: Buffer, begin: number, end: number): void {
  const isNegative = text[begin] === MINUS;
  let first = isNegative ? begin + 1 : begin;
  const found = text.subarray(first, end).indexOf(POINT);
  const point = found < 0 ? end : first + found;
  const scale = Math.max(0, end - point - 1);
  while (first < point && text[first] === ZERO) first += 1;
  const wholeGroups = Math.ceil((point - first) / GROUP);
  const groups: number[] = [];
  for (let group = 0; group < wholeGroups; group += 1) {
    const until = point - (wholeGroups - 1 - group) * GROUP;
    groups.push(digits(text, Math.max(first, until - GROUP), until, 0));
  }
  for (let at = point + 1; at < end; at += GROUP) {
    const until = Math.min(end, at + GROUP);
    groups.push(digits(text, at, until, GROUP - (until - at)));
  }
  let begins = 0;
  while (begins < groups.length && groups[begins] === 0) begins += 1;
  let ends = groups.length;
  while (ends > begins && groups[ends - 1] === 0) ends -= 1;
  const isZero = begins === ends;
  out.int16(ends - begins);
  out.int16(isZero ? 0 : wholeGroups - 1 - begins);
  out.int16(isNegative && !isZero ? NEGATIVE : 0);
  out.int16(scale);
  for (let i = begins; i < ends; i += 1) out.int16(groups[i] ?? 0);
}

/** @param zeros that follow the digits */
function digits(text: Buffer, begin: number, end: number, zeros: number): number {
  let value = 0;
  for (let at = begin; at < end; at += 1) value = value * 10 + ((text[at] ?? ZERO) - ZERO);
  return value * 10 ** zeros;
}

/** `00000000-0000-0000-0000-00000000000a` as 16 bytes. */
export function writeUuid(out: GrowingBytes, text: Buffer, begin: number, end: number): void {
  let high: number | undefined;
  for (let at = begin; at < end; at += 1) {
    const byte = text[at] ?? MINUS;
    if (byte === MINUS) continue;
    // Letters lie behind the digits, small ones and capitals 32 apart.
    const value = byte <= 0x39 ? byte - ZERO : (byte | 0x20) - 0x57;
    if (high === undefined) high = value;
    else {
      out.byte((high << 4) | value);
      high = undefined;
    }
  }
}

/** Months, days and microseconds, as `formedRows` has them. */
export function writeInterval(out: GrowingBytes, text: Buffer, begin: number, end: number): void {
  const [months = '0', days = '0', micros = '0'] = text.toString('latin1', begin, end).split(' ');
  out.int64(BigInt(micros));
  out.int32(Number(days));
  out.int32(Number(months));
}

import { JSON_DOCUMENT, NUMBER_MARK } from '#shared/task/json-document.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { textOf, type FileText } from './file-text.ts';
import type { OpenScanned } from '../scan/readable-path.ts';

// Numbers of JSON that a DOUBLE does not hold: DuckDB's parser makes one of every fraction and of every exponent.

/** A number as long as this may have more digits than the 15 that every DOUBLE keeps: 16, and a point or an exponent. */
const LONG = 17;
/** Bytes that are looked at once more with the next ones, because a number may stand on both sides. */
const OVERLAP = 64;

const [DIGIT, POINT, PLUS_OR_MINUS] = [1, 2, 4];
/** The signs of numbers, by their bytes; 0 for any other byte. */
const SIGNS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const sign = String.fromCharCode(byte);
  if (/\d/.test(sign)) return DIGIT;
  if (/[.eE]/.test(sign)) return POINT;
  return /[+-]/.test(sign) ? PLUS_OR_MINUS : 0;
});

/** Whether documents of JSON may have a number that loses digits. One pass over the text, as far as the first. */
export async function hasLongNumbers(signal: AbortSignal, open: OpenScanned, text: FileText): Promise<boolean> {
  let before: Uint8Array = Buffer.alloc(0);
  for await (const chunk of textOf(signal, open, text)) {
    const bytes = Buffer.concat([before, chunk]);
    if (hasLongNumber(bytes)) return true;
    before = bytes.subarray(-OVERLAP);
  }
  return false;
}

/** Looks at every seventeenth byte, and at those around it where it is a sign: more than a gigabyte in a second. */
function hasLongNumber(bytes: Buffer): boolean {
  const signAt = (at: number): number => SIGNS[bytes[at] ?? 0] ?? 0;
  for (let at = LONG - 1; at < bytes.length; at += LONG) {
    if (signAt(at) === 0) continue;
    let [start, signs] = [at, signAt(at)];
    for (; start > 0 && signAt(start - 1) !== 0; start -= 1) signs |= signAt(start - 1);
    for (; at + 1 < bytes.length && signAt(at + 1) !== 0; at += 1) signs |= signAt(at + 1);
    const isLong = at - start + 1 >= LONG && (signs & POINT) !== 0;
    if (isLong && isNumber(bytes, start, at + 1)) return true;
  }
  return false;
}

/**
 * Whether signs are a number rather than a part of a text, such as the digest of a file. Signs at the end of what is read at once come again
 * with the next bytes, unless there are too many of them.
 */
function isNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end === bytes.length) return end - start >= OVERLAP;
  const around = bytes.toString('latin1', Math.max(0, start - 1), start) + bytes.toString('latin1', end, end + 1);
  return (
    /^[:,[\s][\],}\s]$/.test(around) && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(bytes.toString('latin1', start, end))
  );
}

const SIGN = '[0-9.eE+-]';
/** Texts, and all else but long numbers; then a long number, or the end. */
const UP_TO_NUMBER = String.raw`((?:[^"0-9.eE+-]|"(?:[^"\\]|\\.)*"|${SIGN}{1,${LONG - 1}}[^0-9.eE+"-])*)(${SIGN}{${LONG},}|$)`;
/** The mark as a text of JSON spells it. */
const MARK = JSON.stringify(NUMBER_MARK).slice(1, -1);
const MARKED = String.raw`\1"${MARK.replaceAll('\\', '\\\\')}\2"`;
/** The mark of the end, which holds no number, and its quotes. */
const END_LENGTH = MARK.length + 2;

/** Prints a query over documents, in the column `JSON_DOCUMENT`, such that every long number in them is a text that begins with `NUMBER_MARK`. */
export function markNumbers(documents: string): string {
  const marked = `system.main.regexp_replace(CAST(${JSON_DOCUMENT} AS VARCHAR), ${quoteLiteral(UP_TO_NUMBER)}, ${quoteLiteral(MARKED)}, 'gs')`;
  return `SELECT * REPLACE (CAST(left(${marked}, -${END_LENGTH}) AS JSON) AS ${JSON_DOCUMENT}) FROM (${documents})`;
}

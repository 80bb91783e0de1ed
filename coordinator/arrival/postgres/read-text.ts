import { manyDimensions } from './binary-text.ts';
import { BadValue } from './value-kind.ts';

/** Values in text as Postgres reads them, where the engine reads them in another way. */

const WORDS: readonly (readonly [word: string, shortest: number, value: boolean])[] = [
  ['true', 1, true],
  ['false', 1, false],
  ['yes', 1, true],
  ['no', 1, false],
  ['on', 2, true],
  ['off', 2, false],
  ['1', 1, true],
  ['0', 1, false],
];

/** `t`, `no`, ` ON `: a word or its begin. @throws BadValue */
export function readBoolean(text: string): boolean {
  const given = text.trim().toLowerCase();
  const found = WORDS.find(([word, shortest]) => given.length >= shortest && word.startsWith(given));
  if (found === undefined) throw invalid('boolean', text);
  return found[2];
}

const INTEGER = /^\s*[+-]?(?:\d+(?:_\d+)*|0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)\s*$/;
const DECIMAL_INTEGER = /^\s*[+-]?\d+\s*$/;

/** Requires an integer: the engine would round `1.5`. @returns its digits @throws BadValue */
export function readInteger(text: string, type: string): string {
  if (DECIMAL_INTEGER.test(text)) return text.trim();
  if (!INTEGER.test(text)) throw invalid(type, text);
  const plain = text.trim().replaceAll('_', '');
  const isNegative = plain.startsWith('-');
  const value = BigInt(plain.replace(/^[+-]/, ''));
  return String(isNegative ? -value : value);
}

/** `\x00ff`, or text with `\\` and `\377`. @throws BadValue */
export function readBytes(text: string): Buffer {
  if (text.startsWith('\\x')) {
    const hex = text.slice(2).replace(/\s/g, '');
    if (!/^(?:[\da-fA-F]{2})*$/.test(hex))
      throw new BadValue('invalid hexadecimal digit, or an odd number of them', '22023');
    return Buffer.from(hex, 'hex');
  }
  if (!text.includes('\\')) return Buffer.from(text);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { index, 0: all, 1: octal } of text.matchAll(/\\(?:(\\|[0-3][0-7]{2})|)/g)) {
    if (octal === undefined) throw invalid('bytea', text);
    parts.push(
      Buffer.from(text.slice(at, index)),
      octal === '\\' ? Buffer.from('\\') : Buffer.of(Number.parseInt(octal, 8)),
    );
    at = index + all.length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(at))]);
}

/** `0044-03-15 12:00:00 BC`: the engine has the era in brackets behind the date. */
export function readMoment(text: string): string {
  const trimmed = text.trim();
  if (!/ bc$/i.test(trimmed)) return text;
  const moment = trimmed.slice(0, -' BC'.length).trimEnd();
  const end = moment.indexOf(' ');
  return end < 0 ? `${moment} (BC)` : `${moment.slice(0, end)} (BC)${moment.slice(end)}`;
}

/** `{1,NULL,"a \"b"}`: the texts of its elements. @throws BadValue */
export function readArray(text: string): readonly (string | null)[] {
  const malformed = (): BadValue => new BadValue(`malformed array literal: ${quoted(text)}`);
  let body = text.trim();
  // The bounds of its dimensions.
  if (body.startsWith('[')) {
    const equals = body.indexOf('=');
    if (equals < 0) throw malformed();
    if (body.slice(0, equals).split(':').length > 2) throw manyDimensions();
    body = body.slice(equals + 1).trimStart();
  }
  if (!body.startsWith('{') || !body.endsWith('}') || body.length < 2) throw malformed();
  const inner = body.slice(1, -1);
  if (inner.trim() === '') return [];
  const elements: (string | null)[] = [];
  for (let at = 0; at <= inner.length;) {
    const { value, end } = readElement(inner, at, malformed);
    elements.push(value);
    at = end + 1;
  }
  return elements;
}

/** Characters that mean themselves in an element, each a sticky pattern of one class. */
const [BARE, IN_QUOTES, SPACES] = [/[^,{}"\\]*/y, /[^"\\]*/y, /\s*/y];

/** The end of what a sticky pattern matches. */
function runEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

/** One element up to the comma behind it. */
function readElement(
  text: string,
  from: number,
  malformed: () => BadValue,
): { readonly value: string | null; readonly end: number } {
  let at = runEnd(SPACES, text, from);
  const first = at;
  const isQuoted = text.charAt(at) === '"';
  if (isQuoted) at += 1;
  let value = '';
  /** Characters up to the last one with a backslash, which stay as they are. */
  let kept = 0;
  let isClosed = false;
  for (; at < text.length; at += 1) {
    if (!isClosed) {
      const end = runEnd(isQuoted ? IN_QUOTES : BARE, text, at);
      value += text.slice(at, end);
      at = end;
      if (at === text.length) break;
    }
    const char = text.charAt(at);
    if (isClosed || !isQuoted) {
      if (char === ',') break;
      if (char === '{' && at === first) throw manyDimensions();
      if ((isClosed && !/\s/.test(char)) || char === '{' || char === '}' || char === '"') throw malformed();
    }
    if (isClosed) continue;
    if (isQuoted && char === '"') {
      isClosed = true;
      continue;
    }
    if (char === '\\') {
      at += 1;
      kept = value.length + 1;
      if (at === text.length) throw malformed();
    }
    value += text.charAt(at);
  }
  if (isQuoted) {
    if (!isClosed) throw malformed();
    return { value, end: at };
  }
  const bare = value.slice(0, kept) + value.slice(kept).trimEnd();
  if (bare === '') throw malformed();
  return { value: kept === 0 && /^null$/i.test(bare) ? null : bare, end: at };
}

const invalid = (type: string, text: string): BadValue =>
  new BadValue(`invalid input syntax for type ${type}: ${quoted(text)}`);

const SHOWN_MAX = 200;
const quoted = (text: string): string => `"${text.slice(0, SHOWN_MAX)}"`;

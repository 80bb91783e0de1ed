import type { Literal } from '../predicate.ts';
import { firstCodePoints } from '../transform.ts';

export type Bounds = { readonly lower: Literal | undefined; readonly upper: Literal | undefined };

/** Maximum length of a bound: code points of a text, bytes of a binary value. Longer values are cut. */
export const BOUND_LENGTH_MAX = 256;

/**
 * Cuts bounds of texts or bytes to the limit. A lower bound becomes a prefix. An upper bound is cut after the last character that can be
 * incremented, and that character is incremented; without such a character there is no upper bound.
 */
export function stringBounds(min: Literal | undefined, max: Literal | undefined): Bounds {
  return { lower: cutLower(min), upper: cutUpper(max) };
}

function cutLower(value: Literal | undefined): Literal | undefined {
  if (typeof value === 'string') return firstCodePoints(value, BOUND_LENGTH_MAX);
  return value instanceof Uint8Array ? value.subarray(0, BOUND_LENGTH_MAX) : undefined;
}

function cutUpper(value: Literal | undefined): Literal | undefined {
  if (typeof value === 'string') {
    const cut = firstCodePoints(value, BOUND_LENGTH_MAX);
    return cut === value ? value : nextText(cut);
  }
  if (!(value instanceof Uint8Array)) return undefined;
  return value.length <= BOUND_LENGTH_MAX ? value : nextBytes(value.subarray(0, BOUND_LENGTH_MAX));
}

function nextText(text: string): string | undefined {
  const points = Array.from(text, (c) => c.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    // Surrogates are not characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    if (next <= 0x10ffff) return String.fromCodePoint(...points, next);
  }
  return undefined;
}

function nextBytes(bytes: Uint8Array): Uint8Array | undefined {
  for (let length = bytes.length; length > 0; length--) {
    const last = bytes[length - 1] ?? 0;
    if (last < 255) return Uint8Array.of(...bytes.subarray(0, length - 1), last + 1);
  }
  return undefined;
}

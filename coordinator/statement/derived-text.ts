import { must } from '#shared/must.ts';
import type { TextSpan } from './statement.ts';

type Part = { readonly start: number; readonly end: number } | { readonly inserted: string };

/**
 * A text made of parts of a query's text and of texts of our own. A position in it can be mapped to the query:
 *
 *     SELECT DISTINCT a FROM t          <- inserted, a, inserted, t
 *
 * `EditedText` is a client's query with changes, which DuckDB then parses as a whole. A `SplicedText` is a text of our own with parts of a
 * client's statement in it, each of which is proven (`proven.ts`).
 */
export class DerivedText {
  readonly #source: string;
  readonly #parts: Part[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  static whole(text: string): DerivedText {
    return new DerivedText(text).slice(0, text.length, new Map());
  }

  insert(text: string): this {
    this.#parts.push({ inserted: text });
    return this;
  }

  /** A part of the query's text, with what is to be inserted into it. */
  protected slice(start: number, end: number, insertions: ReadonlyMap<number, string>): this {
    let at = start;
    for (const [position, text] of [...insertions].toSorted(([a], [b]) => a - b)) {
      if (position <= start || position > end) continue;
      this.#parts.push({ start: at, end: position }, { inserted: text });
      at = position;
    }
    this.#parts.push({ start: at, end });
    return this;
  }

  get text(): string {
    return this.#parts
      .map((part) => ('inserted' in part ? part.inserted : this.#source.slice(part.start, part.end)))
      .join('');
  }

  /** Finds ranges of the query's text, which stand in its order, in this text; one that is not whole in a part of it is left out. */
  places<Range extends { readonly start: number; readonly end: number }>(ranges: readonly Range[]): readonly Range[] {
    const found: Range[] = [];
    let at = 0;
    for (const part of this.#parts) {
      if ('inserted' in part) {
        at += part.inserted.length;
        continue;
      }
      const shift = at - part.start;
      for (let i = firstFrom(ranges, part.start); i < ranges.length; i += 1) {
        const range = must(ranges[i], 'an index below the length');
        if (range.end > part.end) break;
        found.push({ ...range, start: range.start + shift, end: range.end + shift });
      }
      at += part.end - part.start;
    }
    return found;
  }

  /** Maps a position in this text to the query's text; an inserted character maps to the place of insertion. */
  toSource(position: number): number {
    let at = 0;
    let last = 0;
    for (const part of this.#parts) {
      const length = 'inserted' in part ? part.inserted.length : part.end - part.start;
      if (position < at + length) return 'inserted' in part ? last : part.start + position - at;
      at += length;
      if (!('inserted' in part)) last = part.end;
    }
    return last;
  }
}

/** Index of the first range that starts at `position` or behind it. */
function firstFrom(ranges: readonly { readonly start: number }[], position: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (must(ranges[middle], 'an index below the length').start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The query's text itself. */
export const wholeText = ({ text }: TextSpan): DerivedText => DerivedText.whole(text);

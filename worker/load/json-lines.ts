import type { JsonFormat } from '#shared/stage/file-format.ts';

const [NEWLINE, QUOTE, BACKSLASH] = [0x0a, 0x22, 0x5c];
const OPEN: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d;

/**
 * The lines on which the documents at some places, from 1, begin, by their places; none for a place that the text does not have. One pass
 * over the text, as far as the last of them. @param places ascending
 */
export async function linesOfJsonDocuments(
  text: AsyncIterable<Uint8Array>,
  { layout }: Pick<JsonFormat, 'layout'>,
  places: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const found = new FoundLines(places);
  if (found.isWhole) return found.lines;
  const walk = layout === 'lines' ? new LineWalk(found) : new DocumentWalk(found, layout === 'array' ? 1 : 0);
  for await (const chunk of text) if (!walk.take(chunk)) break;
  return found.lines;
}

/** Counts documents, and keeps the lines of those that are asked for. */
class FoundLines {
  readonly lines = new Map<number, number>();
  readonly #places: ReadonlySet<number>;
  #count = 0;

  constructor(places: readonly number[]) {
    this.#places = new Set(places);
  }

  get isWhole(): boolean {
    return this.lines.size === this.#places.size;
  }

  /** Another document begins. */
  begins(line: number): void {
    this.#count += 1;
    if (this.#places.has(this.#count)) this.lines.set(this.#count, line);
  }
}

/** Counts the lines that are not blank. */
class LineWalk {
  readonly #found: FoundLines;
  #line = 1;
  #isCounted = false;

  constructor(found: FoundLines) {
    this.#found = found;
  }

  /** Takes the bytes that follow; false when no more are wanted. */
  take(chunk: Uint8Array): boolean {
    for (const byte of chunk) {
      if (byte === NEWLINE) {
        this.#line += 1;
        this.#isCounted = false;
      } else if (!this.#isCounted && !isBlank(byte)) {
        this.#isCounted = true;
        this.#found.begins(this.#line);
        if (this.#found.isWhole) return false;
      }
    }
    return true;
  }
}

/** Counts the arrays and objects that begin at a depth. */
class DocumentWalk {
  readonly #found: FoundLines;
  readonly #depth: number;
  #line = 1;
  #at = 0;
  #isText = false;
  #isEscaped = false;

  constructor(found: FoundLines, depth: number) {
    this.#found = found;
    this.#depth = depth;
  }

  /** As `LineWalk.take`. */
  take(chunk: Uint8Array): boolean {
    for (const byte of chunk) {
      if (byte === NEWLINE) this.#line += 1;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isText && byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isText = !this.#isText;
      else if (!this.#isText && OPEN.has(byte)) {
        if (this.#at === this.#depth) this.#found.begins(this.#line);
        this.#at += 1;
        if (this.#found.isWhole) return false;
      } else if (!this.#isText && CLOSE.has(byte)) this.#at -= 1;
    }
    return true;
  }
}

import type { JsonFormat } from '#shared/stage/file-format.ts';

const [NEWLINE, QUOTE, BACKSLASH] = [0x0a, 0x22, 0x5c];
const OPEN: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d;

/** The line on which the document at a place, from 1, begins; null when the text has fewer. */
export async function lineOfJsonDocument(
  text: AsyncIterable<Uint8Array>,
  { layout }: Pick<JsonFormat, 'layout'>,
  place: number,
): Promise<number | null> {
  const walk = layout === 'lines' ? new LineWalk(place) : new DocumentWalk(place, layout === 'array' ? 1 : 0);
  for await (const chunk of text) {
    const line = walk.take(chunk);
    if (line !== null) return line;
  }
  return null;
}

/** Counts the lines that are not blank. */
class LineWalk {
  readonly #place: number;
  #count = 0;
  #line = 1;
  #isCounted = false;

  constructor(place: number) {
    this.#place = place;
  }

  take(chunk: Uint8Array): number | null {
    for (const byte of chunk) {
      if (byte === NEWLINE) {
        this.#line += 1;
        this.#isCounted = false;
      } else if (!this.#isCounted && !isBlank(byte)) {
        this.#isCounted = true;
        this.#count += 1;
        if (this.#count === this.#place) return this.#line;
      }
    }
    return null;
  }
}

/** Counts the arrays and objects that begin at a depth. */
class DocumentWalk {
  readonly #place: number;
  readonly #depth: number;
  #count = 0;
  #line = 1;
  #at = 0;
  #isText = false;
  #isEscaped = false;

  constructor(place: number, depth: number) {
    this.#place = place;
    this.#depth = depth;
  }

  take(chunk: Uint8Array): number | null {
    for (const byte of chunk) {
      if (byte === NEWLINE) this.#line += 1;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isText && byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isText = !this.#isText;
      else if (!this.#isText && OPEN.has(byte)) {
        if (this.#at === this.#depth) this.#count += 1;
        this.#at += 1;
        if (this.#count === this.#place) return this.#line;
      } else if (!this.#isText && CLOSE.has(byte)) this.#at -= 1;
    }
    return null;
  }
}

import type { JsonFormat } from '#shared/stage/file-format.ts';
import { SkeinError } from '#shared/error.ts';
import { JSON_DEPTH_MAX } from '#shared/sql/bounded-functions.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import { textOf, unlessBroken, type FileText } from './file-text.ts';

const [NEWLINE, QUOTE, BACKSLASH] = [0x0a, 0x22, 0x5c];
/** How a byte outside of texts changes the number of levels: that of a bracket, and of the begin of a text. */
const [OPENS, CLOSES, BEGINS_TEXT] = [1, 2, 3];
const SIGNS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x7b || byte === 0x5b) return OPENS;
  if (byte === 0x7d || byte === 0x5d) return CLOSES;
  return byte === QUOTE ? BEGINS_TEXT : 0;
});

type Limits = Pick<JsonFormat, 'layout'> & {
  /** Where this many documents were read, the rest is not; in a list, values that are no objects or lists do not count. */
  readonly documentsMax?: number;
};

/**
 * Reads a file of JSON, and refuses one with too many levels: DuckDB walks a document recursively, and a stack that overflows ends the
 * process. What is wrong with the file otherwise is left to the load.
 * @throws INVALID_INPUT_FILE
 */
export async function requireFewLevels(
  signal: AbortSignal,
  open: OpenScanned,
  text: FileText,
  limits: Limits,
): Promise<void> {
  const walk = new LevelWalk(limits);
  await unlessBroken(signal, async () => {
    for await (const chunk of textOf(signal, open, text))
      if (!walk.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))) break;
  });
  if (walk.isDeep) {
    throw new SkeinError('INVALID_INPUT_FILE', `a document of JSON has more than ${JSON_DEPTH_MAX} levels`);
  }
}

/** Counts the levels around each byte. */
export class LevelWalk {
  readonly #isLines: boolean;
  /** The levels around a document. */
  readonly #around: number;
  #documentsLeft: number;
  #levels = 0;
  #isText = false;
  #isEscaped = false;
  isDeep = false;

  constructor({ layout, documentsMax = Infinity }: Limits) {
    this.#isLines = layout === 'lines';
    this.#around = layout === 'array' ? 1 : 0;
    this.#documentsLeft = documentsMax;
  }

  /** Takes the bytes that follow. @returns false when no more are wanted */
  take(chunk: Buffer): boolean {
    if (!this.#isLines) this.#walk(chunk, 0, chunk.length);
    for (let at = 0; this.#isLines && at < chunk.length && !this.isDeep && this.#documentsLeft > 0;) {
      const newLine = chunk.indexOf(NEWLINE, at);
      const end = newLine < 0 ? chunk.length : newLine;
      // A line has no more levels than bytes.
      const isShort = newLine >= 0 && this.#levels === 0 && !this.#isText && end - at <= JSON_DEPTH_MAX;
      if (!isShort) this.#walk(chunk, at, end);
      if (newLine >= 0) this.#endLine();
      at = end + 1;
    }
    return !this.isDeep && this.#documentsLeft > 0;
  }

  /** The next line begins a document, however this one ended. */
  #endLine(): void {
    this.#documentsLeft -= 1;
    this.#levels = 0;
    this.#isText = false;
    this.#isEscaped = false;
  }

  #walk(chunk: Buffer, from: number, to: number): void {
    let levels = this.#levels;
    for (let at = this.#isText ? this.#behindText(chunk, from, to) : from; at < to; at += 1) {
      const sign = SIGNS[chunk[at] ?? 0];
      if (sign === 0) continue;
      if (sign === BEGINS_TEXT) at = this.#behindText(chunk, at + 1, to) - 1;
      else if (sign === CLOSES) {
        levels = Math.max(0, levels - 1);
        if (levels === this.#around && !this.#isLines && --this.#documentsLeft <= 0) return;
      } else if (++levels > JSON_DEPTH_MAX) {
        this.isDeep = true;
        return;
      }
    }
    this.#levels = levels;
  }

  /** The place behind the quote that ends a text, or the end of what was read. */
  #behindText(chunk: Buffer, from: number, to: number): number {
    let isEscaped = this.#isEscaped;
    for (let at = from; at < to; at += 1) {
      if (isEscaped) isEscaped = false;
      else if (chunk[at] === BACKSLASH) isEscaped = true;
      else if (chunk[at] === QUOTE) {
        this.#isText = false;
        this.#isEscaped = false;
        return at + 1;
      }
    }
    this.#isText = true;
    this.#isEscaped = isEscaped;
    return to;
  }
}

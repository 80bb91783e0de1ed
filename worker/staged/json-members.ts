import type { JsonFormat } from '#shared/stage/file-format.ts';

const [NEWLINE, QUOTE, BACKSLASH, COMMA] = [0x0a, 0x22, 0x5c, 0x2c];
const [BRACE, BRACKET] = [0x7b, 0x5b];
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Bytes of a name that are kept: no column has a longer one. */
const NAME_BYTES_MAX = 64 * 1024;

type Limits = { readonly wanted: ReadonlySet<string>; readonly namesMax: number };

/**
 * The names that documents of JSON have for their members, each once, as far as the first that is wanted: a file is read to its end only
 * when none is.
 * @returns at most `namesMax` names, and the wanted one
 */
export async function memberNames(
  text: AsyncIterable<Uint8Array>,
  { layout }: Pick<JsonFormat, 'layout'>,
  { wanted, namesMax }: Limits,
): Promise<readonly string[]> {
  const names = new Set<string>();
  const walk = new MemberWalk(layout, (name) => {
    const isWanted = wanted.has(name);
    if (isWanted || names.size < namesMax) names.add(name);
    return !isWanted;
  });
  for await (const chunk of text) if (!walk.take(chunk)) break;
  return [...names];
}

/** Visits the names of the members of documents, but not those of objects within them, until `visit` returns false. */
class MemberWalk {
  readonly #visit: (name: string) => boolean;
  readonly #isLines: boolean;
  /** The number of arrays and objects around a member. */
  readonly #memberDepth: number;
  #depth = 0;
  /** The document is an object, and the next text in it a name. */
  #isAtName = false;
  #isObject = false;
  #isText = false;
  #isEscaped = false;
  /** The bytes of the name so far; null in another text. */
  #name: number[] | null = null;

  constructor(layout: JsonFormat['layout'], visit: (name: string) => boolean) {
    this.#visit = visit;
    this.#isLines = layout === 'lines';
    this.#memberDepth = layout === 'array' ? 2 : 1;
  }

  /** Takes the bytes that follow; false when no more are wanted. */
  take(chunk: Uint8Array): boolean {
    for (const byte of chunk) {
      if (byte === NEWLINE && this.#isLines) this.#beginLine();
      else if (this.#isText) {
        if (!this.#takeOfText(byte)) return false;
      } else this.#takeSign(byte);
    }
    return true;
  }

  /** A line begins a document, however the line before ended. */
  #beginLine(): void {
    this.#depth = 0;
    this.#isText = false;
    this.#isEscaped = false;
    this.#isAtName = false;
  }

  #takeOfText(byte: number): boolean {
    if (!this.#isEscaped && byte === QUOTE) {
      this.#isText = false;
      return this.#name === null || this.#visit(nameOf(this.#name));
    }
    this.#isEscaped = !this.#isEscaped && byte === BACKSLASH;
    if (this.#name !== null && this.#name.length < NAME_BYTES_MAX) this.#name.push(byte);
    return true;
  }

  #takeSign(byte: number): void {
    if (byte === QUOTE) {
      this.#isText = true;
      this.#name = this.#isAtName ? [] : null;
      this.#isAtName = false;
    } else if (byte === BRACE || byte === BRACKET) {
      this.#depth += 1;
      if (this.#depth === this.#memberDepth) this.#isObject = byte === BRACE;
      this.#isAtName = this.#depth === this.#memberDepth && this.#isObject;
    } else if (CLOSE.has(byte)) {
      this.#depth -= 1;
      this.#isAtName = false;
    } else if (byte === COMMA) this.#isAtName = this.#depth === this.#memberDepth && this.#isObject;
  }
}

function nameOf(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString();
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

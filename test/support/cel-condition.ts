/**
 * The part of the Common Expression Language that conditions of access boundaries need: `||`, `startsWith` of the resource's name and of the
 * prefix of a list, text literals with their escapes. Anything else is refused, as Google's token service refuses what it does not know.
 */

/** The request that a condition is asked about. */
export type ConditionRequest = {
  /** `projects/_/buckets/B`, or that with `/objects/KEY`. */
  readonly resourceName: string;
  /** The prefix of a list; '' = none, or no list. */
  readonly listPrefix: string;
};

export type Condition = (request: ConditionRequest) => boolean;

/** @throws when the text is no condition */
export function parseCondition(expression: string): Condition {
  const parser = new Parser(expression);
  const terms = [parser.term()];
  while (parser.takes('||')) terms.push(parser.term());
  parser.end();
  return (request) => terms.some((term) => term(request));
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  term(): Condition {
    if (this.takes('resource.name.startsWith(')) {
      const prefix = this.#literal();
      this.#needs(')');
      return ({ resourceName }) => resourceName.startsWith(prefix);
    }
    this.#needs('api.getAttribute(');
    if (this.#literal() !== 'storage.googleapis.com/objectListPrefix') throw this.#error();
    this.#needs(',');
    const otherwise = this.#literal();
    this.#needs(').startsWith(');
    const prefix = this.#literal();
    this.#needs(')');
    return ({ listPrefix }) => (listPrefix === '' ? otherwise : listPrefix).startsWith(prefix);
  }

  takes(token: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  end(): void {
    this.#skip();
    if (this.#at !== this.#text.length) throw this.#error();
  }

  #needs(token: string): void {
    if (!this.takes(token)) throw this.#error();
  }

  #literal(): string {
    this.#needs("'");
    let text = '';
    for (;;) {
      const char = this.#text[this.#at++];
      if (char === undefined || char === '\n' || char === '\r') throw this.#error();
      if (char === "'") return text;
      text += char === '\\' ? this.#escaped() : char;
    }
  }

  #escaped(): string {
    const char = this.#text[this.#at++] ?? '';
    if (char === 'u') {
      const digits = this.#text.slice(this.#at, this.#at + 4);
      if (!/^[0-9a-f]{4}$/i.test(digits)) throw this.#error();
      this.#at += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (!`\\'"`.includes(char)) throw this.#error();
    return char;
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }

  #error(): Error {
    return new Error(`no condition at ${this.#at} of ${this.#text}`);
  }
}

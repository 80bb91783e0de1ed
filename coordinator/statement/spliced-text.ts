import { DerivedText } from './derived-text.ts';
import type { Proven } from './proven.ts';
import type { TextSpan } from './statement.ts';

/** A text of our own with parts of a client's statement in it, in any order. The compiler refuses a part that was not proven. */
export class SplicedText extends DerivedText {
  readonly #offset: number;

  /** @param within the part of the statement that has all others in it */
  constructor({ text, offset }: TextSpan) {
    super(text);
    this.#offset = offset;
  }

  /** Inserts a part of the statement, and a line break, because it may end in a comment. */
  splice({ text, offset }: Proven): this {
    const start = offset - this.#offset;
    return this.slice(start, start + text.length, NOTHING).insert('\n');
  }
}

const NOTHING: ReadonlyMap<number, string> = new Map();

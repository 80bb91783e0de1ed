import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import type { Option, OptionValue } from './take-options.ts';

/** Longest regular expression, in characters. */
const PATTERN_LENGTH_MAX = 1_000;

/** The options of a clause, each of which is asked for once; `end` refuses those that nobody asked for. */
export class OptionReader {
  readonly #options: ReadonlyMap<string, Option>;
  readonly #asked = new Set<string>();
  /** The owner of the options, for messages: `TYPE = CSV`. */
  readonly #of: string;

  constructor(options: readonly Option[], of: string) {
    this.#options = new Map(options.map((option) => [option.name, option]));
    this.#of = of;
  }

  /** @throws SYNTAX_ERROR, as all below, for a value of another kind */
  word<Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word {
    const option = this.#take(name);
    if (option === undefined) return otherwise;
    const given = wordOf(option.value);
    const found = words.find((word) => word === given);
    if (found === undefined) throw wrong(option, `is one of ${words.join(', ')}`);
    return found;
  }

  /** A word, in capitals; undefined when it is not given. */
  anyWord(name: string): string | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    const given = wordOf(option.value);
    if (given === undefined) throw wrong(option, 'is a word');
    return given;
  }

  boolean(name: string, otherwise: boolean): boolean {
    return this.word(name, ['TRUE', 'FALSE'], otherwise ? 'TRUE' : 'FALSE') === 'TRUE';
  }

  integer(name: string, { least, most }: { readonly least: number; readonly most: number }): number | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    const number = option.value.kind === 'number' ? Number(option.value.text) : Number.NaN;
    if (Number.isSafeInteger(number) && number >= least && number <= most) return number;
    throw wrong(option, `is a number from ${least} to ${most}`);
  }

  /** Undefined when it is not given. */
  text(name: string): string | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    if (option.value.kind !== 'text') throw wrong(option, 'is a text in quotes');
    return option.value.text;
  }

  /** A regular expression of RE2; undefined when it is not given. */
  pattern(name: string): { readonly text: string; readonly position: number } | undefined {
    const text = this.text(name);
    const position = this.positionOf(name);
    if (text === undefined || position === undefined) return undefined;
    if (text.length <= PATTERN_LENGTH_MAX) return { text, position };
    throw new SkeinError('SYNTAX_ERROR', `${name} has at most ${PATTERN_LENGTH_MAX} characters`, { position });
  }

  /** A text, or the word NONE or AUTO, which gives null. */
  textOr(name: string, word: 'NONE' | 'AUTO'): string | null | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    if (wordOf(option.value) === word) return null;
    if (option.value.kind !== 'text') throw wrong(option, `is a text in quotes, or ${word}`);
    return option.value.text;
  }

  /** The texts of a list, or of a text by itself. */
  texts(name: string, countMax: number): readonly string[] | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    const { value } = option;
    const items = value.kind === 'list' ? value.items : [value];
    const texts = items.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
    if (texts.length < items.length) throw wrong(option, 'is a list of texts in quotes');
    if (texts.length > countMax) throw wrong(option, `has at most ${countMax} texts`);
    return texts;
  }

  options(name: string): readonly Option[] | undefined {
    const option = this.#take(name);
    if (option === undefined) return undefined;
    if (option.value.kind === 'list' && option.value.items.length === 0) return [];
    if (option.value.kind !== 'options') throw wrong(option, 'is a list such as (TYPE = CSV)');
    return option.value.options;
  }

  /** Where an option stands; undefined when it is not given. */
  positionOf(name: string): number | undefined {
    return this.#options.get(name)?.position;
  }

  /** @throws SYNTAX_ERROR for an option that nobody asked for */
  end(): void {
    for (const { name, position } of this.#options.values()) {
      if (this.#asked.has(name)) continue;
      const hint = didYouMean(nearestName(name, [...this.#asked]));
      throw new SkeinError('SYNTAX_ERROR', `${this.#of} has no option ${name}${hint}`, { position });
    }
  }

  #take(name: string): Option | undefined {
    this.#asked.add(name);
    return this.#options.get(name);
  }
}

const plain = (value: OptionValue): string | undefined =>
  value.kind === 'word' || value.kind === 'text' ? value.text : undefined;

const wrong = ({ name, position }: Option, what: string): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${name} ${what}`, { position });

/** The value as a keyword. */
function wordOf(value: OptionValue): string | undefined {
  const text = plain(value);
  return text === undefined ? undefined : foldKeyword(text);
}

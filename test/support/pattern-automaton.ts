import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { must, unreachable } from '#shared/must.ts';

/**
 * A pattern as an automaton: one state for every place where the pattern takes a character. It ignores assertions and treats a long
 * repetition as an endless one, so it accepts more texts than the pattern, in at least as many ways. A pattern whose automaton is
 * unambiguous is therefore unambiguous itself.
 */
export type Automaton = {
  /** `next[state][character]`: the states that follow, one as often as there are ways to it. State 0 looks for the begin of a match. */
  readonly next: readonly (readonly (readonly number[])[])[];
  /** States in which a match may begin at the begin of the text alone, by their first character. */
  readonly atStart: readonly (readonly number[])[];
  /** One representative of each class of characters that the pattern does not distinguish. */
  readonly alphabet: readonly string[];
};

/** Copies that a counted repetition is written out in. */
const COPIES_MAX = 4;
const STATES_MAX = 1_000;
/** Letters, spaces and ends of lines; those that a pattern names are added to them. */
const USUAL = ['a', 'Z', '0', '_', ' ', '\t', '\n', '\r', '\u2028', '\0', '!', '-', '/', '"', 'é', '\u200b', '€'];

/** A part of a pattern: how it begins and ends, and whether it may take nothing, perhaps at the begin of the text alone. */
type Part = {
  readonly first: readonly { readonly state: number; readonly atStart: boolean }[];
  readonly last: readonly number[];
  readonly empty: 'never' | 'always' | 'atStart';
};

const NOTHING: Part = { first: [], last: [], empty: 'always' };

/** @throws Error for a back reference or an endless look-behind, which no such automaton has */
export function automatonOf({ source, flags }: RegExp): Automaton {
  const builder = new Builder(flags);
  const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, unicode);
  return builder.finish(builder.anyOf(pattern.alternatives));
}

class Builder {
  readonly #flags: string;
  /** The character that each state takes, as a pattern. */
  readonly #takes: string[] = [''];
  readonly #follow: number[][] = [[]];
  readonly #characters = new Set(USUAL);

  constructor(flags: string) {
    this.#flags = flags;
  }

  anyOf(alternatives: readonly AST.Alternative[]): Part {
    const parts = alternatives.map(({ elements }) =>
      elements.reduce((before, element) => this.#inOrder(before, this.#part(element)), NOTHING),
    );
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      empty: (['always', 'atStart'] as const).find((empty) => parts.some((part) => part.empty === empty)) ?? 'never',
    };
  }

  finish({ first }: Part): Automaton {
    const alphabet = [...this.#characters];
    const takes = this.#takes.map((source) => {
      const pattern = new RegExp(`^(?:${source})$`, this.#flags.replaceAll(/[^isuv]/g, ''));
      return alphabet.map((character) => source !== '' && pattern.test(character));
    });
    const by = (states: readonly number[]): number[][] =>
      alphabet.map((_, character) => states.filter((state) => takes[state]?.[character] === true));
    const begins = by(first.filter(({ atStart }) => !atStart).map(({ state }) => state));
    return {
      // Before its match a search takes any character.
      next: this.#follow.map((states, state) => (state === 0 ? begins.map((list) => [0, ...list]) : by(states))),
      atStart: by(first.filter(({ atStart }) => atStart).map(({ state }) => state)),
      alphabet,
    };
  }

  #part(element: AST.Element): Part {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return this.anyOf(element.alternatives);
      case 'Quantifier':
        return this.#repeat(element);
      case 'Assertion':
        return this.#assertion(element);
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        return this.#take(element);
      case 'Backreference':
        throw new Error('a back reference');
      default:
        return unreachable(element);
    }
  }

  #take(element: AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass): Part {
    if (element.type === 'Character') this.#name(element.value, element.value);
    if (element.type === 'CharacterClass') {
      for (const one of element.elements) {
        if (one.type === 'Character') this.#name(one.value, one.value);
        if (one.type === 'CharacterClassRange') this.#name(one.min.value, one.max.value);
      }
    }
    const state = this.#takes.push(element.raw) - 1;
    this.#follow.push([]);
    if (state > STATES_MAX) throw new Error('too many states');
    return { first: [{ state, atStart: false }], last: [state], empty: 'never' };
  }

  /** Adds the ends of a range, and the characters next to them, to the alphabet. */
  #name(min: number, max: number): void {
    for (const code of [min - 1, min, max, max + 1]) {
      if (code < 0 || code > 0xffff) continue;
      const character = String.fromCharCode(code);
      const cases = this.#flags.includes('i') ? [character.toLowerCase(), character.toUpperCase()] : [];
      for (const one of [character, ...cases]) if (one.length === 1) this.#characters.add(one);
    }
  }

  #inOrder(a: Part, b: Part): Part {
    this.#join(a.last, b);
    const begins = b.first.map(({ state, atStart }) => ({ state, atStart: atStart || a.empty === 'atStart' }));
    const both = [a.empty, b.empty];
    return {
      first: a.empty === 'never' ? a.first : [...a.first, ...begins],
      last: b.empty === 'never' ? b.last : [...b.last, ...a.last],
      empty: both.includes('never') ? 'never' : both.includes('atStart') ? 'atStart' : 'always',
    };
  }

  #join(last: readonly number[], { first }: Part): void {
    for (const from of last) for (const { state } of first) must(this.#follow[from], 'a state').push(state);
  }

  #repeat({ element, min, max }: AST.Quantifier): Part {
    if (max === 0) return NOTHING;
    const one = (): Part => this.#part(element);
    const needed = Array.from({ length: Math.min(min, COPIES_MAX) }, one);
    const head = needed.reduce((before, part) => this.#inOrder(before, part), NOTHING);
    if (min === max && min <= COPIES_MAX) return head;
    const optional = max - min;
    if (optional > COPIES_MAX || min > COPIES_MAX) {
      const body = one();
      this.#join(body.last, body);
      return this.#inOrder(head, { ...body, empty: body.empty === 'never' ? 'always' : body.empty });
    }
    let tail = NOTHING;
    for (let i = 0; i < optional; i++) tail = { ...this.#inOrder(one(), tail), empty: 'always' };
    return this.#inOrder(head, tail);
  }

  #assertion(element: AST.Assertion): Part {
    switch (element.kind) {
      case 'start':
        return this.#flags.includes('m') ? NOTHING : { ...NOTHING, empty: 'atStart' };
      case 'end':
      case 'word':
        return NOTHING;
      case 'lookahead':
        // Look-ahead: a way that ends without a match, beside the one that continues.
        return { first: this.anyOf(element.alternatives).first, last: [], empty: 'always' };
      case 'lookbehind':
        if (/[*+{]/.test(element.raw)) throw new Error('an endless look-behind');
        return NOTHING;
      default:
        return unreachable(element);
    }
  }
}

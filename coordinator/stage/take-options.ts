import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { takePairs } from '../statement/take-pairs.ts';

/** An option as a statement writes it: a word in capitals, a text, a number, or a list of these in brackets. */
export type OptionValue =
  | { readonly kind: 'word' | 'text' | 'number'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly OptionValue[] }
  | { readonly kind: 'options'; readonly options: readonly Option[] };

export type Option = { readonly name: string; readonly value: OptionValue; readonly position: number };

/** Depth of brackets in options: those of FILE_FORMAT, and of a list in it. */
const DEPTH_MAX = 3;

/**
 * Takes `NAME = value` as often as it comes, with or without commas between; `=>` is taken for `=`.
 * @throws SYNTAX_ERROR for an option that is given twice
 */
export function takeOptions(reader: StatementReader, depth = 0): readonly Option[] {
  const options = takePairs<Option>(reader, {
    key: () => (isOption(reader) ? reader.word() : null),
    value: (name, position) => {
      reader.takeSymbol('=');
      reader.takeSymbol('>');
      return { name, position, value: takeValue(reader, depth) };
    },
    goesOn: () => {
      reader.takeSymbol(',');
      return true;
    },
    twice: (name) => `the option ${name} is given twice`,
  });
  return [...options.values()];
}

const isOption = (reader: StatementReader): boolean => reader.peekWord() !== '' && reader.peekSymbol('=', 1);

/** `( NAME = value ... )` @throws SYNTAX_ERROR */
export function takeBracketedOptions(reader: StatementReader, depth = 0): readonly Option[] {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const options = takeOptions(reader, depth + 1);
  if (!reader.takeSymbol(')')) throw reader.expected('an option such as TYPE = CSV');
  return options;
}

function takeValue(reader: StatementReader, depth: number): OptionValue {
  if (reader.peekSymbol('(')) {
    if (depth >= DEPTH_MAX) throw reader.error('SYNTAX_ERROR', 'there are too many brackets within each other');
    const inBrackets = reader.peekWord(1) !== '' && reader.peekSymbol('=', 2);
    if (inBrackets) return { kind: 'options', options: takeBracketedOptions(reader, depth) };
    return { kind: 'list', items: takeList(reader, depth) };
  }
  const text = reader.takeString();
  if (text !== null) return { kind: 'text', text };
  const number = reader.takeNumber();
  if (number !== null) return { kind: 'number', text: number };
  const word = reader.takeName();
  if (word === null) throw reader.expected('the value of an option');
  return { kind: 'word', text: foldKeyword(word) };
}

function takeList(reader: StatementReader, depth: number): readonly OptionValue[] {
  reader.takeSymbol('(');
  const items: OptionValue[] = [];
  if (reader.takeSymbol(')')) return items;
  do items.push(takeValue(reader, depth + 1));
  while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return items;
}

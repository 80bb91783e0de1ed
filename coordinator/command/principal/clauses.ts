import { must, unreachable } from '#shared/must.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takePairs } from '../../statement/take-pairs.ts';

/** The value of a clause: a text in quotes, a name with or without quotes, TRUE or FALSE (of a switch, TRUE when there is none), texts in brackets. */
type ClauseKind = 'text' | 'name' | 'flag' | 'switch' | 'list';
type ValueOf<Kind> = Kind extends 'flag' | 'switch' ? boolean : Kind extends 'list' ? readonly string[] : string;
export type Clauses<Kinds extends Readonly<Record<string, ClauseKind>>> = {
  readonly [K in keyof Kinds]?: ValueOf<Kinds[K]>;
};

/**
 * Takes clauses `KEY VALUE`, `KEY = VALUE` or `KEY=VALUE` in any order, each once, with or without commas between them, up to a word that is
 * no key. @throws SYNTAX_ERROR
 */
export function takeClauses<const Kinds extends Readonly<Record<string, ClauseKind>>>(
  reader: StatementReader,
  kinds: Kinds,
): Clauses<Kinds> {
  const kindOf = (key: string): ClauseKind | undefined => (Object.hasOwn(kinds, key) ? kinds[key] : undefined);
  const found = takePairs(reader, {
    key: () => (kindOf(reader.peekWord()) === undefined ? null : reader.word()),
    value: (key) => {
      reader.takeSymbol('=');
      return takeValue(reader, must(kindOf(key), 'a key has a kind'), key);
    },
    goesOn: () => {
      if (reader.takeSymbol(',') && kindOf(reader.peekWord()) === undefined) throw reader.expected('another clause');
      return true;
    },
    twice: (key) => `${key} stands twice`,
  });
  return Object.fromEntries(found) as Clauses<Kinds>;
}

function takeValue(reader: StatementReader, kind: ClauseKind, key: string): string | boolean | readonly string[] {
  switch (kind) {
    case 'text':
      return takeText(reader, key);
    case 'name':
      return takeAnyName(reader, key);
    case 'flag':
      return takeFlag(reader, key);
    case 'switch':
      return ['TRUE', 'FALSE'].includes(reader.peekWord()) ? takeFlag(reader, key) : true;
    case 'list':
      return takeTexts(reader, key);
    default:
      return unreachable(kind);
  }
}

function takeTexts(reader: StatementReader, what: string): readonly string[] {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const texts: string[] = [];
  do texts.push(takeText(reader, `an entry of ${what}`));
  while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
  return texts;
}

/** A text in quotes, or the value of a parameter, which may stand in brackets. @throws SYNTAX_ERROR */
export function takeText(reader: StatementReader, what: string): string {
  if (reader.takeSymbol('(')) {
    const text = takeText(reader, what);
    if (!reader.takeSymbol(')')) throw reader.expected("')'");
    return text;
  }
  const text = reader.takeString();
  if (text === null) throw reader.expected(`${what} in quotes`);
  return text;
}

/** A name of one part, plain, quoted or as a text. @throws SYNTAX_ERROR */
export function takeAnyName(reader: StatementReader, what: string): string {
  const name = reader.takeName() ?? (reader.peekSymbol('(') ? takeText(reader, what) : reader.takeString());
  if (name === null || name === '') throw reader.expected(`the name of ${what}`);
  return name;
}

function takeFlag(reader: StatementReader, what: string): boolean {
  const word = foldKeyword(reader.takeName() ?? takeText(reader, what));
  if (word !== 'TRUE' && word !== 'FALSE') throw reader.error('SYNTAX_ERROR', `${what} is TRUE or FALSE`);
  return word === 'TRUE';
}

/** The parts of an object that are not undefined. */
export const defined = <T extends object>(parts: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };

import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';

/** A call of `set_config`: a setting that a query changes. */
export type ConfigCall = { readonly name: string; readonly value: string; readonly isLocal: boolean };

const NAME = 'set_config';

/**
 * The calls of `set_config(name, value, is_local)` in a query. They are done before it runs, each once, whatever its rows are; so their
 * arguments are literals. @throws NOT_SUPPORTED for others, with their place
 */
export function configCalls({ text, offset }: TextSpan): readonly ConfigCall[] {
  if (!foldIdentifier(text).includes(NAME)) return [];
  const calls: ConfigCall[] = [];
  const tokens = new Tokenizer(text);
  let before: Token | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const isCall = before?.kind === 'word' && foldIdentifier(text.slice(before.start, before.end)) === NAME;
    if (isCall && before !== null && text.slice(token.start, token.end) === '(') {
      calls.push(readCall({ text: text.slice(token.start), offset: offset + token.start }));
    }
    before = token;
  }
  return calls;
}

function readCall(span: TextSpan): ConfigCall {
  const reader = new StatementReader(span);
  const wrong = (): SkeinError => reader.error('NOT_SUPPORTED', `${NAME} takes two literal texts, and true or false`);
  reader.takeSymbol('(');
  const name = takeText(reader);
  if (name === null || !reader.takeSymbol(',')) throw wrong();
  const value = takeText(reader);
  if (value === null || !reader.takeSymbol(',')) throw wrong();
  const isLocal = takeFlag(reader);
  if (isLocal === null || !reader.takeSymbol(')')) throw wrong();
  return { name, value, isLocal };
}

/** A text, perhaps with a cast behind it or around it, as values of parameters have one. */
const takeText = (reader: StatementReader): string | null => inCast(reader, () => reader.takeString());

function inCast(reader: StatementReader, take: () => string | null): string | null {
  const isCast = reader.takeWord('CAST');
  if (isCast && !reader.takeSymbol('(')) return null;
  const hasBrackets = reader.takeSymbol('(');
  const text = take();
  if (hasBrackets && !reader.takeSymbol(')')) return null;
  if (isCast && (!reader.takeWord('AS') || reader.takeName() === null || !reader.takeSymbol(')'))) return null;
  while (reader.takeSymbol(':')) if (!reader.takeSymbol(':') || reader.takeName() === null) return null;
  return text;
}

/** TRUE, FALSE, or a text that means one of them. */
function takeFlag(reader: StatementReader): boolean | null {
  const word = (): string | null =>
    reader.takeWord('TRUE') ? 't' : reader.takeWord('FALSE') ? 'f' : reader.takeString();
  const text = foldIdentifier(inCast(reader, word) ?? '');
  if (['t', 'true', 'on', '1'].includes(text)) return true;
  return ['f', 'false', 'off', '0'].includes(text) ? false : null;
}

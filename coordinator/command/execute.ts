import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import type { Constant } from '../statement/parameters.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Argument, Execution } from '../operation/prepared-statements.ts';
import type { Command } from './command.ts';

/** `EXECUTE name [(value, ...) | (name := value, ...)]` */
export const execute: Command<Execution> = {
  words: ['EXECUTE'],
  queryType: 'unknown',
  timeout: 'session',
  parse(reader) {
    reader.word();
    const { parts, position } = reader.name('a prepared statement', 1);
    const values = reader.peekSymbol('(') ? reader.list('a value') : [];
    reader.end();
    return { name: foldIdentifier(parts.join('')), position, arguments: values.map(readArgument) };
  },
  action: () => null,
  run: (execution, { prepared }) => prepared.execute(execution),
};

function readArgument(span: TextSpan): Argument {
  const reader = new StatementReader(span);
  if (!reader.peekSymbol(':', 1) || !reader.peekSymbol('=', 2)) return { name: null, ...valueOf(span) };
  const name = reader.takeName();
  if (name === null) throw reader.expected('the name of a parameter');
  reader.takeSymbol(':');
  reader.takeSymbol('=');
  if (reader.atEnd()) throw reader.expected('a value');
  return { name: foldIdentifier(name), ...valueOf(reader.takeRest()) };
}

type Value = Omit<Argument, 'name'>;

const valueOf = (expression: TextSpan): Value => ({ expression, constant: constantOf(expression) });

/** The value of a literal; undefined for any other expression. */
function constantOf(expression: TextSpan): Constant | undefined {
  const reader = new StatementReader(expression);
  const opened = takeAll(reader, '(');
  const value = takeConstant(reader);
  const closed = takeAll(reader, ')');
  return opened === closed && reader.atEnd() ? value : undefined;
}

function takeAll(reader: StatementReader, symbol: string): number {
  let count = 0;
  while (reader.takeSymbol(symbol)) count += 1;
  return count;
}

const WORDS: readonly (readonly [string, Constant])[] = [
  ['NULL', null],
  ['TRUE', true],
  ['FALSE', false],
];
/** Other numbers, such as `1_000` and `.5`, are left to DuckDB. */
const PLAIN_NUMBER = /^\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,1000})?$/;

function takeConstant(reader: StatementReader): Constant | undefined {
  const word = WORDS.find(([name]) => reader.takeWord(name));
  if (word !== undefined) return word[1];
  const string = reader.takeString();
  if (string !== null) return string;
  const sign = reader.takeSymbol('-') ? '-' : '';
  const digits = reader.takeNumber();
  return digits !== null && PLAIN_NUMBER.test(digits) ? { digits: sign + digits } : undefined;
}

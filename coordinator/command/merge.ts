import { answerWrite } from './answer-write.ts';
import { SkeinError } from '#shared/error.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { notDefault, takeAlias, takeReturning, takeSet } from './clause/row-clauses.ts';
import type { Command } from './command.ts';
import type { Merge, MergeAction, MergeBranch, MergeSource } from '../operation/row-write.ts';
import { takeColumnNames } from './clause/column-names.ts';

/**
 * `MERGE INTO table [[AS] alias] USING table | (query) [[AS] alias [(column, ...)]] ON condition WHEN ... THEN ... [RETURNING ...]`; a branch is
 * ```
 * WHEN MATCHED | NOT MATCHED [BY TARGET | BY SOURCE] [AND condition]
 *   THEN UPDATE SET column = value, ... | UPDATE SET * | DELETE | INSERT [(column, ...)] VALUES (...) | INSERT * | DO NOTHING
 * ```
 */
export const merge: Command<Merge> = {
  words: ['MERGE INTO'],
  tag: 'MERGE',
  queryType: 'merge',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const table = reader.name('a table', 3);
    const alias = takeAlias(reader);
    const rest = reader.rest();
    if (!reader.takeWord('USING')) throw reader.expected('USING');
    const source = takeSource(reader);
    if (!reader.takeWord('ON')) throw reader.expected('ON');
    const on = reader.clause('a condition', 'WHEN');
    const branches: MergeBranch[] = [];
    while (reader.takeWord('WHEN')) branches.push(takeBranch(reader));
    if (branches.length === 0) throw reader.expected('WHEN');
    const returning = takeReturning(reader);
    reader.end();
    return { table, alias, source, on, branches, returning, rest };
  },
  action: () => 'table.commit',
  describe: (input, { writes }) => writes.describe({ kind: 'merge', input }),
  run: async (input, context) => answerWrite(input, await context.writes.merge(input), context),
};

function takeSource(reader: StatementReader): MergeSource {
  const from = reader.rest();
  if (reader.takeSymbol('(')) {
    const query = reader.clause('a query', ')');
    reader.takeSymbol(')');
    const alias = takeAlias(reader);
    if (alias === null) throw reader.expected('an alias');
    const columns = reader.peekSymbol('(') ? takeColumnNames(reader) : [];
    return { kind: 'query', query, alias, columns };
  }
  const { parts } = reader.name('a table', 3);
  const table = { text: from.text.slice(0, reader.position - from.offset).trimEnd(), offset: from.offset };
  return { kind: 'table', table, parts, alias: takeAlias(reader) };
}

function takeBranch(reader: StatementReader): MergeBranch {
  const when = takeWhen(reader);
  const condition = reader.takeWord('AND') ? reader.clause('a condition', 'THEN') : null;
  if (!reader.takeWord('THEN')) throw reader.expected('THEN');
  const { position } = reader;
  const action = takeAction(reader);
  const fits = action.kind === 'nothing' || (action.kind === 'insert') === (when === 'not-matched');
  if (fits) return { when, condition, action };
  throw new SkeinError(
    'SYNTAX_ERROR',
    when === 'not-matched' ? 'rows that are not there can only be inserted' : 'rows that are there cannot be inserted',
    { position },
  );
}

function takeWhen(reader: StatementReader): MergeBranch['when'] {
  if (reader.takeWord('MATCHED')) return 'matched';
  if (!reader.takeWords('NOT', 'MATCHED')) throw reader.expected('MATCHED or NOT MATCHED');
  if (reader.takeWords('BY', 'SOURCE')) return 'not-matched-by-source';
  reader.takeWords('BY', 'TARGET');
  return 'not-matched';
}

function takeAction(reader: StatementReader): MergeAction {
  if (reader.takeWords('DO', 'NOTHING')) return { kind: 'nothing' };
  if (reader.takeWord('DELETE')) return { kind: 'delete' };
  if (reader.takeWords('UPDATE', 'SET')) {
    return { kind: 'update', set: reader.takeSymbol('*') ? null : takeSet(reader, 'WHEN', 'RETURNING') };
  }
  if (!reader.takeWord('INSERT')) throw reader.expected('UPDATE SET, DELETE, INSERT or DO NOTHING');
  if (reader.takeSymbol('*')) return { kind: 'insert', columns: null, values: null };
  const columns = reader.peekSymbol('(') ? takeColumnNames(reader) : null;
  if (!reader.takeWord('VALUES')) throw reader.expected('VALUES');
  return { kind: 'insert', columns, values: reader.list('a value').map(notDefault) };
}

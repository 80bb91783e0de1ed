import { SkeinError } from '#shared/error.ts';
import type { ColumnName, TargetColumns } from '../operation/target-columns.ts';
import { isLiteral } from '../statement/proven.ts';
import type { TextSpan } from '../statement/statement.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import { answerWrite } from './answer-write.ts';
import { notDefault, splitReturning, takeReturning } from './clause/row-clauses.ts';
import type { Command } from './command.ts';
import type { Insert } from '../operation/row-write.ts';
import { startsQuery } from './query-words.ts';
import { takeColumnNames } from './clause/column-names.ts';

/** `INSERT INTO | OVERWRITE [TABLE] [catalog.][schema.]table [(column, ...)] [BY NAME | BY POSITION] query | DEFAULT VALUES [RETURNING ...]` */
export const insert: Command<Insert> = {
  words: ['INSERT INTO', 'INSERT OVERWRITE'],
  tag: 'INSERT',
  queryType: 'insert',
  timeout: 'session',
  parse(reader) {
    reader.word();
    const mode = reader.word() === 'OVERWRITE' ? 'overwrite' : 'append';
    if (mode === 'overwrite') reader.takeWord('TABLE');
    const table = reader.name('a table', 3);
    const list = takeColumns(reader);
    if (list === null && reader.takeWords('DEFAULT', 'VALUES')) {
      const rest = reader.rest();
      const returning = takeReturning(reader);
      reader.end();
      return {
        mode,
        table,
        target: { kind: 'defaults' },
        query: { text: 'SELECT NULL', offset: table.position },
        values: null,
        returning,
        rest,
      };
    }
    const target = takeTarget(reader, list);
    if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') throw reader.expected('a query');
    const isValues = reader.peekWord() === 'VALUES';
    const rest = reader.takeRest();
    const [query, returning] = splitReturning(rest);
    const values = isValues ? takeValues(new StatementReader(query)) : null;
    return { mode, table, target, query, values, returning, rest };
  },
  action: () => 'table.commit',
  describe: (input, { writes }) => writes.describe({ kind: 'insert', input }),
  run: async (input, context) => answerWrite(input, await context.writes.insert(input), context),
};

function takeTarget(reader: StatementReader, list: readonly ColumnName[] | null): TargetColumns {
  if (list !== null) return { kind: 'list', names: list };
  if (reader.takeWords('BY', 'NAME')) return { kind: 'name' };
  reader.takeWords('BY', 'POSITION');
  return { kind: 'position' };
}

/** The values of each row; null when something follows them, such as ORDER BY: they are then a query like any other. */
function takeValues(reader: StatementReader): Insert['values'] {
  reader.word();
  const rows: (readonly (TextSpan | null)[])[] = [];
  let count = 0;
  do {
    const row = reader.list('a value').map(notDefault).map(marked);
    count += row.length;
    if (count > VALUES_MAX) {
      const message = `an INSERT has at most ${VALUES_MAX} values; COPY INTO and \`skein load\` take files`;
      throw new SkeinError('STATEMENT_TOO_COMPLEX', message);
    }
    rows.push(row);
  } while (reader.takeSymbol(','));
  return reader.atEnd() ? rows : null;
}

/** Values that one INSERT lists: a planner takes no more in a text of its own length, and the coordinator holds each. */
const VALUES_MAX = 100_000;

/** Marks a literal here, where a long text has a thread of its own: as a rule nearly all of many values are literals. */
const marked = (value: TextSpan | null): TextSpan | null =>
  value !== null && isLiteral(value) ? { ...value, isLiteral: true } : value;

/** A list of columns in brackets; null where a bracket begins a query. */
function takeColumns(reader: StatementReader): readonly ColumnName[] | null {
  if (!reader.peekSymbol('(') || reader.peekSymbol('(', 1) || QUERY_STARTS.has(reader.peekWord(1))) return null;
  return takeColumnNames(reader);
}

/** Words that begin a query in brackets; as the name of a column they are quoted. */
const QUERY_STARTS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'FROM', 'VALUES', 'TABLE', 'PIVOT', 'UNPIVOT']);

import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';
import { StatementReader } from '../../../statement/statement-reader.ts';
import type { TextSpan } from '../../../statement/statement.ts';
import type { StatementDescription } from '../../../operation/description.ts';
import { takeCopyOptions, type CopyForm } from './copy-options.ts';

/** COPY between a client and a table, or from a query (https://www.postgresql.org/docs/18/sql-copy.html). */
export type CopyStatement =
  | {
      readonly direction: 'out';
      /** The query whose rows go to the client: what is not part of it is blank, so that its places are those of the statement. */
      readonly query: string;
      readonly options: CopyForm;
    }
  | {
      readonly direction: 'in';
      /** The table's own name, for messages. */
      readonly name: string;
      /** The name as it is written. */
      readonly table: TextSpan;
      /** The list of its columns, as it is written, without brackets; null = all. */
      readonly columns: readonly TextSpan[] | null;
      readonly options: CopyForm;
    };

/** Words that begin the query of a COPY. */
const QUERIES: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'FROM']);

/** Reads a COPY; null for one that is the engine's own (`COPY INTO`). @throws SYNTAX_ERROR with a position, NOT_SUPPORTED, WireError */
export function readCopy(sql: string): CopyStatement | null {
  const reader = new StatementReader({ text: sql, offset: 0 });
  reader.word();
  if (reader.peekWord() === 'INTO') return null;
  const isBinary = reader.peekWord() === 'BINARY' && !isDirection(reader.peekWord(1)) && reader.takeWord('BINARY');
  if (reader.peekSymbol('(')) return copyOfQuery(reader, sql);
  const start = reader.position;
  const { parts } = reader.name('a table', 3);
  const end = endBefore(sql, reader.position);
  const table = { text: sql.slice(start, end), offset: start };
  const columns = reader.peekSymbol('(') ? reader.list('a column') : null;
  const direction = takeDirection(reader);
  const options = takeCopyOptions(reader, { direction, isBinary });
  reader.end();
  if (direction === 'in') return { direction, name: parts.at(-1) ?? '', table, columns, options };
  const query = columns === null ? `FROM ${table.text}` : `FROM ${table.text} SELECT ${listText(columns)}`;
  return { direction, query: query.padStart(start - 'FROM '.length + query.length), options };
}

const isDirection = (word: string): boolean => word === 'TO' || word === 'FROM';

const listText = (columns: readonly TextSpan[]): string => columns.map(({ text }) => text).join(', ');

/** The end of the last token before a place. */
function endBefore(sql: string, position: number): number {
  const tokens = new Tokenizer(sql);
  let end = 0;
  for (let token = tokens.next(); token.start < position; token = tokens.next()) ({ end } = token);
  return end;
}

function copyOfQuery(reader: StatementReader, sql: string): CopyStatement {
  const [first, ...others] = reader.list('a query');
  if (first === undefined) throw reader.expected('a query');
  const last = others.at(-1) ?? first;
  const end = last.offset + last.text.length;
  const word = new StatementReader(first).peekWord();
  if (!QUERIES.has(word) && !first.text.startsWith('(')) {
    throw new SkeinError('NOT_SUPPORTED', 'COPY of a query takes one that only reads', { position: first.offset });
  }
  const direction = takeDirection(reader);
  if (direction === 'in') throw reader.error('SYNTAX_ERROR', 'COPY FROM takes a table, no query');
  const options = takeCopyOptions(reader, { direction, isBinary: false });
  reader.end();
  return {
    direction,
    query: sql.slice(0, first.offset).replace(/[^\n]/g, ' ') + sql.slice(first.offset, end),
    options,
  };
}

/** @throws NOT_SUPPORTED for files and programs of the server */
function takeDirection(reader: StatementReader): 'in' | 'out' {
  const direction = reader.takeWord('TO') ? 'out' : reader.takeWord('FROM') ? 'in' : null;
  if (direction === null) throw reader.expected('TO or FROM');
  // Postgres takes either word in both directions.
  if (reader.takeWord('STDOUT') || reader.takeWord('STDIN')) return direction;
  throw reader.error('NOT_SUPPORTED', 'COPY goes to STDOUT and comes from STDIN: stages take files (COPY INTO)');
}

/** The answer of COPY between a table and a client, whose rows are no rows of a result. */
export const COPY_DESCRIPTION: StatementDescription = { kind: 'nothing', tag: 'COPY', parameters: [] };

/** Whether two names are of one column. */
export const isSameColumn = (one: string, other: string): boolean => foldIdentifier(one) === foldIdentifier(other);

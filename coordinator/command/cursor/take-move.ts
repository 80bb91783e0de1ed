import type { CursorMove, CursorName } from '../../operation/cursors.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeCursor } from './cursor-name.ts';

export type Move = CursorName & { readonly move: CursorMove };

/** Postgres counts rows in 64 bits; no result here has as many. */
const COUNT_MAX = 2 ** 53 - 1;

const NAMED: Readonly<Record<string, CursorMove>> = {
  NEXT: { kind: 'forward', count: 1 },
  PRIOR: { kind: 'backward', count: 1 },
  FIRST: { kind: 'absolute', count: 1 },
  LAST: { kind: 'absolute', count: -1 },
  ALL: { kind: 'forward', count: 'all' },
};

/**
 * `[NEXT | PRIOR | FIRST | LAST | ABSOLUTE n | RELATIVE n | n | ALL | FORWARD [n | ALL] | BACKWARD [n | ALL]] [FROM | IN] name`, behind FETCH and
 * MOVE. A cursor with the name of a word is written in quotes, or behind FROM.
 */
export function takeMove(reader: StatementReader): Move {
  reader.word();
  const move = takeDirection(reader);
  if (!reader.takeWord('FROM')) reader.takeWord('IN');
  const cursor = takeCursor(reader);
  reader.end();
  return { ...cursor, move };
}

function takeDirection(reader: StatementReader): CursorMove {
  // The last word is the name.
  if (reader.atEnd(1)) return { kind: 'forward', count: 1 };
  const word = reader.peekWord();
  const named = NAMED[word];
  if (named !== undefined) {
    reader.word();
    return named;
  }
  if (word === 'ABSOLUTE' || word === 'RELATIVE') {
    reader.word();
    const count = takeCount(reader);
    if (count === null) throw reader.expected('a number');
    return { kind: word === 'ABSOLUTE' ? 'absolute' : 'relative', count };
  }
  if (word === 'FORWARD' || word === 'BACKWARD') {
    reader.word();
    const count = reader.takeWord('ALL') ? 'all' : takeCount(reader);
    return { kind: word === 'FORWARD' ? 'forward' : 'backward', count: count ?? 1 };
  }
  return { kind: 'forward', count: takeCount(reader) ?? 1 };
}

/** A whole number with its sign; null when none comes. @throws SYNTAX_ERROR */
function takeCount(reader: StatementReader): number | null {
  const sign = reader.takeSymbol('-') ? -1 : 1;
  if (sign === 1) reader.takeSymbol('+');
  const digits = reader.takeNumber();
  if (digits === null) {
    if (sign === -1) throw reader.expected('a number');
    return null;
  }
  const count = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(count <= COUNT_MAX)) throw reader.error('SYNTAX_ERROR', `a cursor moves by whole numbers up to ${COUNT_MAX}`);
  return count === 0 ? 0 : sign * count;
}

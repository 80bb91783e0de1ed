import type { Signal } from '#shared/sql/statement-context.ts';
import type { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';

/** A call of `pg_cancel_backend` or `pg_terminate_backend`; `pid` null = the connection's own number. */
export type SignalCall = { readonly signal: Signal; readonly pid: number | null };

const NAMES: ReadonlyMap<string, Signal> = new Map([
  ['pg_cancel_backend', 'cancel'],
  ['pg_terminate_backend', 'terminate'],
]);
const MENTIONED = /pg_(?:cancel|terminate)_backend/i;

/**
 * The calls of `pg_cancel_backend(pid)` and `pg_terminate_backend(pid, timeout)` in a query. They are done before it runs, each once, whatever
 * its rows are; so their arguments are literals, or `pg_backend_pid()`. @throws NOT_SUPPORTED for others, with their place
 */
export function signalCalls({ text, offset }: TextSpan): readonly SignalCall[] {
  if (!MENTIONED.test(text)) return [];
  const calls: SignalCall[] = [];
  const tokens = new Tokenizer(text);
  let before: Token | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const name = before?.kind === 'word' ? foldIdentifier(text.slice(before.start, before.end)) : '';
    const signal = NAMES.get(name);
    if (signal !== undefined && text.slice(token.start, token.end) === '(') {
      const span = { text: text.slice(token.start), offset: offset + token.start };
      calls.push({ signal, pid: readNumber(span, name) });
    }
    before = token;
  }
  return calls;
}

/** The number in a call; null for `pg_backend_pid()`. */
function readNumber(span: TextSpan, name: string): number | null {
  const reader = new StatementReader(span);
  const wrong = (): SkeinError =>
    reader.error('NOT_SUPPORTED', `${name} takes the number of one connection, as pg_stat_activity has it`);
  reader.takeSymbol('(');
  const number = takeOwn(reader) ? null : takeNumber(reader);
  const waits = reader.takeSymbol(',') && reader.takeNumber() === null;
  if (number === undefined || waits || !reader.takeSymbol(')')) throw wrong();
  return number;
}

/** `pg_backend_pid()`, perhaps with its schema. */
function takeOwn(reader: StatementReader): boolean {
  if (reader.takeWord('PG_CATALOG')) reader.takeSymbol('.');
  return reader.takeWord('PG_BACKEND_PID') && reader.takeSymbol('(') && reader.takeSymbol(')');
}

const PID_MAX = 2 ** 31 - 1;

/** A number, perhaps as a text, with a cast behind it or around it, as values of parameters have one; undefined for anything else. */
function takeNumber(reader: StatementReader): number | undefined {
  const isCast = reader.takeWord('CAST');
  if (isCast && !reader.takeSymbol('(')) return undefined;
  const hasBrackets = reader.takeSymbol('(');
  const text = reader.takeNumber() ?? reader.takeString() ?? '';
  if (hasBrackets && !reader.takeSymbol(')')) return undefined;
  if (isCast && (!reader.takeWord('AS') || reader.takeName() === null || !reader.takeSymbol(')'))) return undefined;
  while (reader.takeSymbol(':')) if (!reader.takeSymbol(':') || reader.takeName() === null) return undefined;
  return /^\d{1,10}$/.test(text) && Number(text) <= PID_MAX ? Number(text) : undefined;
}

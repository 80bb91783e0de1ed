import type { Signal } from '#shared/sql/statement-context.ts';
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

function readNumber(span: TextSpan, name: string): number | null {
  const [, own, digits] = ARGUMENT.exec(span.text) ?? [];
  if (own !== undefined) return null;
  const pid = Number(digits);
  if (digits !== undefined && pid <= PID_MAX) return pid;
  const reader = new StatementReader(span);
  throw reader.error('NOT_SUPPORTED', `${name} takes the number of one connection, as pg_stat_activity has it`);
}

const PID_MAX = 2 ** 31 - 1;

/** A number, perhaps as a text, with a cast behind it or around it, as values of parameters have one. */
const ARGUMENT =
  /^\(\s*(?:((?:pg_catalog\s*\.\s*)?pg_backend_pid\s*\(\s*\))|(?:CAST\s*\(\s*)?\(?\s*'?(\d{1,10})'?\s*\)?(?:\s*::\s*\w+|\s*AS\s+\w+\s*\))*)\s*(?:,\s*\d{1,18}\s*)?\)/i;

import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { unreachable } from '#shared/must.ts';
import { SEARCH_PATH } from '../session/search-path.ts';
import { settingChange } from '../session/session-place.ts';
import { findSetting } from '../session/settings.ts';
import { withSetting } from '../session/session.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { statusResult, warningResult } from '../operation/answer.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Command } from './command.ts';
import { takeSettingName } from './setting-name.ts';
import { takeModes } from './transaction-modes.ts';

type Set =
  /** `value` is null for DEFAULT. */
  | {
      readonly kind: 'setting';
      readonly name: string;
      readonly value: string | null;
      readonly scope: 'session' | 'local';
    }
  /** The modes of this transaction, or of those to come; null = as they are. */
  | { readonly kind: 'modes'; readonly of: 'transaction' | 'session'; readonly mayWrite: boolean | null }
  /** All roles. */
  | { readonly kind: 'no role' }
  /** It is so already. */
  | { readonly kind: 'nothing'; readonly tag: string };

/**
 * `SET [SESSION | LOCAL] name = value [, ...] | DEFAULT`, `SET [SESSION | LOCAL] TIME ZONE value`, `SET TRANSACTION modes`,
 * `SET SESSION CHARACTERISTICS AS TRANSACTION modes`, and what clients of Postgres send to say what is so anyway: `SET NAMES`,
 * `SET ROLE NONE`, `SET SESSION AUTHORIZATION DEFAULT`, `SET CONSTRAINTS ALL`.
 */
export const set: Command<Set> = {
  words: ['SET'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const isAssigned = (at: number): boolean => reader.peekSymbol('=', at) || reader.peekWord(at) === 'TO';
    const known = isAssigned(1) ? null : takeKnown(reader);
    if (known !== null) return known;
    const isLocal = !isAssigned(1) && reader.takeWord('LOCAL');
    if (!isLocal && !isAssigned(1) && !reader.takeWord('SESSION')) reader.takeWord('GLOBAL');
    const scope = isLocal ? 'local' : 'session';
    if (reader.takeWords('TIME', 'ZONE')) return endSet(reader, { name: 'timezone', scope });
    for (const word of NOT_SERVED) {
      if (reader.peekWord() === word && !isAssigned(1)) {
        throw reader.error('NOT_SUPPORTED', `SET ${word} is not served`);
      }
    }
    const name = takeSettingName(reader);
    if (!reader.takeSymbol('=') && !reader.takeWord('TO')) throw reader.expected("'=' or TO");
    return endSet(reader, { name, scope });
  },
  action: () => null,
  run: runSet,
};

const NOT_SERVED = ['VARIABLE', 'ROLE', 'AUTHORIZATION', 'TRANSACTION', 'CHARACTERISTICS', 'CONSTRAINTS'];

/** The forms that name no setting. */
function takeKnown(reader: StatementReader): Set | null {
  if (reader.takeWords('SESSION', 'CHARACTERISTICS', 'AS', 'TRANSACTION')) {
    return { kind: 'modes', of: 'session', mayWrite: takeModes(reader) };
  }
  if (reader.peekWord() === 'TRANSACTION' && reader.peekWord(1) !== 'SNAPSHOT') {
    reader.word();
    return { kind: 'modes', of: 'transaction', mayWrite: takeModes(reader) };
  }
  if (reader.peekWord() === 'NAMES') {
    reader.word();
    return endSet(reader, { name: 'client_encoding', scope: 'session' });
  }
  if (reader.takeWords('ROLE', 'NONE')) return ended(reader, { kind: 'no role' });
  if (reader.takeWords('SESSION', 'AUTHORIZATION', 'DEFAULT')) return ended(reader, { kind: 'nothing', tag: 'SET' });
  if (reader.takeWords('CONSTRAINTS', 'ALL', 'DEFERRED') || reader.takeWords('CONSTRAINTS', 'ALL', 'IMMEDIATE')) {
    return ended(reader, { kind: 'nothing', tag: 'SET CONSTRAINTS' });
  }
  return null;
}

function ended(reader: StatementReader, set: Set): Set {
  reader.end();
  return set;
}

const OUTSIDE = '25P01';

async function runSet(input: Set, context: CommandContext): ReturnType<Command<Set>['run']> {
  const { updateSession, session, config, names, caller, transactions, answer } = context;
  switch (input.kind) {
    case 'setting': {
      const { scope } = input;
      if (scope === 'local' && !transactions.isInside()) {
        const message = 'SET LOCAL can only be used in transaction blocks';
        return answer(warningResult('SET', { sqlState: OUTSIDE, message }));
      }
      if (input.name === 'transaction_read_only' && input.value !== null) {
        return runSet({ kind: 'modes', of: 'transaction', mayWrite: switchOf(input.value, config) === 'off' }, context);
      }
      updateSession(await settingChange({ names }, { caller, state: session, config }, input));
      return answer(statusResult('SET'));
    }
    case 'modes': {
      const { mayWrite } = input;
      if (input.of === 'transaction') {
        if (!transactions.isInside()) {
          const message = 'SET TRANSACTION can only be used in transaction blocks';
          return answer(warningResult('SET', { sqlState: OUTSIDE, message }));
        }
        if (mayWrite !== null) transactions.setMode({ mayWrite });
      } else if (mayWrite !== null) {
        updateSession((now) => withSetting(now, 'default_transaction_read_only', mayWrite ? 'off' : 'on', config));
      }
      return answer(statusResult('SET'));
    }
    case 'no role':
      updateSession((now) => ({ ...now, role: null }));
      return answer(statusResult('SET'));
    case 'nothing':
      return answer(statusResult(input.tag));
    default:
      return unreachable(input);
  }
}

/** @throws INVALID_REQUEST */
const switchOf = (value: string, config: Config): string =>
  findSetting('default_transaction_read_only').parse(value, config);

function endSet(
  reader: StatementReader,
  { name, scope }: { readonly name: string; readonly scope: 'session' | 'local' },
): Set {
  const isPath = name === SEARCH_PATH;
  let value = settingValue(reader, isPath);
  // The values of a list, as `DateStyle` has one, stand one after the other.
  while (value !== null && reader.takeSymbol(',')) value = `${value}, ${settingValue(reader, isPath) ?? 'default'}`;
  reader.end();
  return { kind: 'setting', name, value, scope };
}

const PLAIN_NAME = /^[\w$]+$/;

/** A string, a number (signed), or a bare word, as text; null for DEFAULT and, of a time zone, LOCAL. @param isName text is a name of a list */
function settingValue(reader: StatementReader, isName: boolean): string | null {
  const named = (text: string): string => (isName && !PLAIN_NAME.test(text) ? quoteIdentifier(text) : text);
  const string = reader.takeString();
  if (string !== null) return named(string);
  if (reader.takeWord('DEFAULT') || reader.takeWord('LOCAL')) return null;
  const sign = reader.takeSymbol('-') ? '-' : reader.takeSymbol('+') ? '' : null;
  const number = reader.takeNumber();
  if (number !== null) return `${sign ?? ''}${number}`;
  if (sign !== null) throw reader.expected('a number');
  const word = reader.takeName();
  if (word === null) throw reader.expected('a value');
  return named(word);
}

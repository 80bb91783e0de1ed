import { withoutSetting, withSetting } from '../session/session.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import { takeSettingName } from './setting-name.ts';

/** `value` is null for DEFAULT. */
type Set = { readonly name: string; readonly value: string | null };

/** `SET [SESSION] name = value [, ...] | DEFAULT`, `SET TIME ZONE value` */
export const set: Command<Set> = {
  words: ['SET'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    if (reader.takeWords('TIME', 'ZONE')) return endSet(reader, 'timezone');
    const scope = reader.takeWord('LOCAL') || reader.takeWord('SESSION') || reader.takeWord('GLOBAL');
    if (scope && reader.takeWords('TIME', 'ZONE')) return endSet(reader, 'timezone');
    for (const word of NOT_SERVED) {
      if (reader.peekWord() === word && !reader.peekSymbol('=', 1) && reader.peekWord(1) !== 'TO') {
        throw reader.error('NOT_SUPPORTED', `SET ${word} is not served`);
      }
    }
    const name = takeSettingName(reader);
    if (!reader.takeSymbol('=') && !reader.takeWord('TO')) throw reader.expected("'=' or TO");
    return endSet(reader, name);
  },
  action: () => null,
  run({ name, value }, { updateSession, config, answer }) {
    updateSession((now) => (value === null ? withoutSetting(now, name) : withSetting(now, name, value, config)));
    return answer(statusResult('SET'));
  },
};

const NOT_SERVED = ['VARIABLE', 'ROLE', 'AUTHORIZATION', 'TRANSACTION', 'CHARACTERISTICS', 'CONSTRAINTS'];

function endSet(reader: StatementReader, name: string): Set {
  let value = settingValue(reader);
  // The values of a list, as `DateStyle` has one, stand one after the other.
  while (value !== null && reader.takeSymbol(',')) value = `${value}, ${settingValue(reader) ?? 'default'}`;
  reader.end();
  return { name, value };
}

/** A string, a number (signed), or a bare word, as text; null for DEFAULT and, of a time zone, LOCAL. */
function settingValue(reader: StatementReader): string | null {
  const string = reader.takeString();
  if (string !== null) return string;
  if (reader.takeWord('DEFAULT') || reader.takeWord('LOCAL')) return null;
  const sign = reader.takeSymbol('-') ? '-' : reader.takeSymbol('+') ? '' : null;
  const number = reader.takeNumber();
  if (number !== null) return `${sign ?? ''}${number}`;
  if (sign !== null) throw reader.expected('a number');
  const word = reader.takeName();
  if (word === null) throw reader.expected('a value');
  return word;
}

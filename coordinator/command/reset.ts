import { withoutSetting } from '../session/session.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import { takeSettingName } from './setting-name.ts';

/** `RESET name`, `RESET ALL` (`name` is null) */
export const reset: Command<{ readonly name: string | null }> = {
  words: ['RESET'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const isAll = reader.takeWord('ALL');
    const name = isAll ? null : reader.takeWords('TIME', 'ZONE') ? 'timezone' : takeSettingName(reader);
    reader.end();
    return { name };
  },
  action: () => null,
  run({ name }, { updateSession, answer }) {
    updateSession((now) => withoutSetting(now, name));
    return answer(statusResult('RESET'));
  },
};

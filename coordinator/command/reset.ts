import { settingChange } from '../session/session-place.ts';
import { withoutSetting } from '../session/session.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import { takeSettingName } from './setting-name.ts';

type Reset = { readonly name: string | null } | { readonly role: null } | { readonly authorization: null };

/** `RESET name`, `RESET ALL` (`name` is null), `RESET ROLE`, `RESET SESSION AUTHORIZATION` */
export const reset: Command<Reset> = {
  words: ['RESET'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const other = reader.takeWord('ROLE')
      ? ({ role: null } as const)
      : reader.takeWords('SESSION', 'AUTHORIZATION')
        ? ({ authorization: null } as const)
        : null;
    if (other !== null) {
      reader.end();
      return other;
    }
    const isAll = reader.takeWord('ALL');
    const name = isAll ? null : reader.takeWords('TIME', 'ZONE') ? 'timezone' : takeSettingName(reader);
    reader.end();
    return { name };
  },
  action: () => null,
  async run(input, { updateSession, names, caller, session, config, answer }) {
    if ('role' in input) updateSession((now) => ({ ...now, role: null }));
    if ('name' in input) {
      const { name } = input;
      const change = (value: string) =>
        settingChange({ names }, { caller, state: session, config }, { name: value, value: null, scope: 'session' });
      updateSession(name === null ? (now) => withoutSetting(now, null) : await change(name));
    }
    return answer(statusResult('RESET'));
  },
};

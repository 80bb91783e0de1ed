import { setting } from '../session/session.ts';
import { settingName } from '../session/settings.ts';
import { textResult } from './answer.ts';
import type { Command } from './command.ts';
import { takeSettingName } from './setting-name.ts';

/** `SHOW name`: the value of a setting. */
export const show: Command<{ readonly name: string }> = {
  words: ['SHOW'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const what = reader.peekWord();
    if (NOT_SERVED.has(what) && !reader.peekSymbol('.', 1))
      throw reader.error('NOT_SUPPORTED', `SHOW ${what} is not served`);
    const name = reader.takeWords('TIME', 'ZONE') ? 'timezone' : takeSettingName(reader);
    reader.end();
    return { name };
  },
  scope: () => null,
  run(input, { session, config, answer }) {
    const name = settingName(input.name);
    return answer(textResult([name], [[setting(session, name, config)]]));
  },
};

const NOT_SERVED = new Set(
  `QUERY RESOURCE CREATE ROW MASKING USERS SERVICE PERSONAL WEBHOOKS GRANTS ROLES VIEWS FUNCTIONS STATS PARTITIONS`.split(
    ' ',
  ),
);

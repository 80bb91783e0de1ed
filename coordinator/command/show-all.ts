import { setting } from '../session/session.ts';
import { SETTINGS, type SettingName } from '../session/settings.ts';
import { textResult } from './answer.ts';
import type { Command } from './command.ts';

/** `SHOW ALL`: every setting with its value. */
export const showAll: Command<null> = {
  words: ['SHOW ALL'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    reader.end();
    return null;
  },
  action: () => null,
  run(_input, { session, config, answer }) {
    const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => [
      name,
      setting(session, name, config),
      SETTINGS[name].doc,
    ]);
    return answer(textResult(['name', 'setting', 'description'], rows));
  },
};

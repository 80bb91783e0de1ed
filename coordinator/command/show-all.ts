import { setting } from '../session/session.ts';
import { SETTINGS, type SettingName } from '../session/settings.ts';
import { paged, textResult } from '../operation/answer.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW ALL`: every setting with its value. */
export const showAll = rowsCommand<null>({
  words: ['SHOW ALL'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    reader.end();
    return null;
  },
  action: () => null,
  rows(_input, { session, config }) {
    const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => [
      name,
      setting(session, name, config),
      SETTINGS[name].doc,
    ]);
    return Promise.resolve(paged(textResult(['name', 'setting', 'description'], rows)));
  },
});

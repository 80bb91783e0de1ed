import { principalRows } from './principal-command.ts';
import { takeGroup, takeHolder } from './take-holder.ts';

/** `SHOW GRANTS TO USER | SERVICE ACCOUNT name`, `SHOW GRANTS TO GROUP 'name' OF p` */
export const showGrants = principalRows({
  words: ['SHOW GRANTS'],
  parse(reader) {
    reader.words(2);
    if (!reader.takeWord('TO')) throw reader.expected('TO');
    if (reader.takeWord('GROUP')) {
      const named = takeGroup(reader);
      reader.end();
      return { kind: 'show_group_grants', ...named };
    }
    const holder = takeHolder(reader);
    reader.end();
    return { kind: 'show_grants', holder };
  },
});

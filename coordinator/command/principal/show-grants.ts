import { principalRows } from './principal-command.ts';
import { takeHolder } from './take-holder.ts';

/** `SHOW GRANTS TO USER | SERVICE ACCOUNT name` */
export const showGrants = principalRows({
  words: ['SHOW GRANTS'],
  parse(reader) {
    reader.words(2);
    if (!reader.takeWord('TO')) throw reader.expected('TO');
    const holder = takeHolder(reader);
    reader.end();
    return { kind: 'show_grants', holder };
  },
});

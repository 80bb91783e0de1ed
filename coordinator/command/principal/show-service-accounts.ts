import { FROM_THE_START, principalRows } from './principal-command.ts';

/** `SHOW SERVICE ACCOUNTS` */
export const showServiceAccounts = principalRows({
  words: ['SHOW SERVICE ACCOUNTS'],
  parse(reader) {
    reader.words(3);
    reader.end();
    return { kind: 'show_accounts', ...FROM_THE_START };
  },
});

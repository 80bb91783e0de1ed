import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP WEBHOOK [IF EXISTS] name` */
export const dropWebhook = principalCommand({
  words: ['DROP WEBHOOK'],
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'a webhook');
    reader.end();
    return { kind: 'drop_webhook', name, ifExists };
  },
});

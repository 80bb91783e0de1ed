import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `ALTER WEBHOOK name RETRY ['event id']` */
export const alterWebhook = principalCommand({
  words: ['ALTER WEBHOOK'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a webhook');
    if (!reader.takeWord('RETRY')) throw reader.expected('RETRY');
    const event = reader.takeString();
    reader.end();
    return { kind: 'retry_webhook', name, event };
  },
});

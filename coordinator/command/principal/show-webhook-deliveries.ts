import { takeAnyName } from './clauses.ts';
import { principalRows } from './principal-command.ts';
import { takeNewest } from './take-newest.ts';

/** `SHOW WEBHOOK DELIVERIES [FOR webhook] [LIMIT n]`: the newest first */
export const showWebhookDeliveries = principalRows({
  words: ['SHOW WEBHOOK DELIVERIES'],
  parse(reader) {
    reader.words(3);
    const webhook = reader.takeWord('FOR') ? takeAnyName(reader, 'a webhook') : null;
    const limit = takeNewest(reader);
    reader.end();
    return { kind: 'show_webhook_deliveries', webhook, after: null, limit };
  },
});

import { takeIfNotExists } from '../clause/exists.ts';
import { takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE WEBHOOK [IF NOT EXISTS] name URL = 'https-url' SECRET = 'hmac-key' EVENTS ('name-or-prefix', ...)` */
export const createWebhook = principalCommand({
  words: ['CREATE WEBHOOK'],
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = takeAnyName(reader, 'a webhook');
    const {
      URL: url,
      SECRET: secret,
      EVENTS: events,
    } = takeClauses(reader, {
      URL: 'text',
      SECRET: 'text',
      EVENTS: 'list',
    });
    if (url === undefined) throw reader.expected('URL');
    if (secret === undefined) throw reader.expected('SECRET');
    if (events === undefined) throw reader.expected("EVENTS ('create_user', ...), where '' is every event,");
    reader.end();
    return { kind: 'create_webhook', name, ifNotExists, url, secret, events: [...events] };
  },
});

import { takeIfNotExists } from '../clause/exists.ts';
import { takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `CREATE WEBHOOK [IF NOT EXISTS] name URL = 'https-url' SECRET = 'hmac-key' [EVENTS ('name-or-prefix', ...)]`: the catalog refuses one without EVENTS */
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
    reader.end();
    return { kind: 'create_webhook', name, ifNotExists, url, secret, ...(events && { events: [...events] }) };
  },
});

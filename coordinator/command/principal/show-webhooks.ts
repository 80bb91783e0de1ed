import { principalRows } from './principal-command.ts';

/** `SHOW WEBHOOKS` */
export const showWebhooks = principalRows({
  words: ['SHOW WEBHOOKS'],
  parse(reader) {
    reader.words(2);
    reader.end();
    return { kind: 'show_webhooks' };
  },
});

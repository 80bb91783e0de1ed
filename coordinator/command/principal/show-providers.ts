import { principalRows } from './principal-command.ts';

/** `SHOW IDENTITY PROVIDERS` */
export const showProviders = principalRows({
  words: ['SHOW IDENTITY PROVIDERS'],
  parse(reader) {
    reader.words(3);
    reader.end();
    return { kind: 'show_providers' };
  },
});

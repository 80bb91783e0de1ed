import { takeAnyName } from './clauses.ts';
import { principalRows } from './principal-command.ts';

/** `DESCRIBE IDENTITY PROVIDER p` */
export const describeProvider = principalRows({
  words: ['DESCRIBE IDENTITY PROVIDER', 'DESC IDENTITY PROVIDER'],
  parse(reader) {
    reader.words(3);
    const name = takeAnyName(reader, 'an identity provider');
    reader.end();
    return { kind: 'describe_provider', name };
  },
});

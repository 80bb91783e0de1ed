import { takeAnyName } from './clauses.ts';
import { principalRows } from './principal-command.ts';

/** `DESCRIBE USER name` */
export const describeUser = principalRows({
  words: ['DESCRIBE USER', 'DESC USER'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a user');
    reader.end();
    return { kind: 'describe_user', name };
  },
});

import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `UNDROP USER name` */
export const undropUser = principalCommand({
  words: ['UNDROP USER'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a user');
    reader.end();
    return { kind: 'undrop_user', name };
  },
});

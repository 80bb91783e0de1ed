import { takeIfExists } from '../clause/exists.ts';
import { takeAnyName } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `DROP USER [IF EXISTS] name [CASCADE | RESTRICT]` */
export const dropUser = principalCommand({
  words: ['DROP USER'],
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = takeAnyName(reader, 'a user');
    const cascade = reader.takeWord('CASCADE');
    if (!cascade) reader.takeWord('RESTRICT');
    reader.end();
    return { kind: 'drop_user', name, ifExists, cascade };
  },
});

import { takeLike } from '../like.ts';
import { takeText } from './clauses.ts';
import { FROM_THE_START, principalRows } from './principal-command.ts';

/** `SHOW USERS [LIKE 'pattern'] [WHERE STATUS = 'status']` */
export const showUsers = principalRows({
  words: ['SHOW USERS'],
  parse(reader) {
    reader.words(2);
    const like = takeLike(reader);
    let status: string | null = null;
    if (reader.takeWord('WHERE')) {
      if (!reader.takeWord('STATUS')) throw reader.expected('STATUS');
      if (!reader.takeSymbol('=')) throw reader.expected("'='");
      status = takeText(reader, 'a status');
    }
    reader.end();
    return { kind: 'show_users', like, status, ...FROM_THE_START };
  },
});

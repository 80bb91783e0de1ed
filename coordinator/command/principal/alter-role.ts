import { defined, takeAnyName, takeClauses } from './clauses.ts';
import { principalCommand } from './principal-command.ts';

/** `ALTER ROLE name SET SCOPE 'words' COMMENT 'text'`, one of them or both */
export const alterRole = principalCommand({
  words: ['ALTER ROLE'],
  parse(reader) {
    reader.words(2);
    const name = takeAnyName(reader, 'a role');
    if (!reader.takeWord('SET')) throw reader.expected('SET');
    const given = takeClauses(reader, { SCOPE: 'text', COMMENT: 'text' });
    if (Object.keys(given).length === 0) throw reader.expected('SCOPE or COMMENT');
    reader.end();
    return { kind: 'alter_role', name, ...defined({ scope: given.SCOPE, comment: given.COMMENT }) };
  },
});

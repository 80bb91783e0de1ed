import { principalRows } from './principal-command.ts';

/** `SHOW ROLES` */
export const showRoles = principalRows({
  words: ['SHOW ROLES'],
  parse(reader) {
    reader.words(2);
    reader.end();
    return { kind: 'show_roles' };
  },
});

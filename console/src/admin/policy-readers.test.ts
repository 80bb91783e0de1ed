import { expect, test } from 'vitest';
import { askedOf } from './policy-readers.ts';

test('a body tells the roles that it names, and what else it goes by', () => {
  const body = `CASE WHEN is_role_in_session('o''hr') OR IS_ROLE_IN_SESSION( 'a' ) OR is_role_in_session('a') THEN val END`;
  expect(askedOf(body)).toEqual({ roles: ['a', "o'hr"], facts: [] });
  expect(
    askedOf('r IN (SELECT region FROM s.rights WHERE who = current_user() AND x = CURRENT_TENANT ())').facts,
  ).toEqual(['the name of its reader', 'the organisation of its reader', 'rows of the tables that it reads']);
  expect(askedOf('is_role_in_session(r) OR current_role() = r')).toEqual({
    roles: [],
    facts: ['the role of its reader', 'roles whose names it computes'],
  });
  expect(askedOf('val')).toEqual({ roles: [], facts: [] });
});

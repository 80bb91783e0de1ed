import type { Action } from '#shared/authorization/action.ts';
import type { MadeValue } from '#shared/made-type.ts';
import { pgList } from '../binding/pg-rows.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';

/** The privileges of Postgres for objects of a kind of `pg_class`, or of schemas (`n`) and databases (`d`), and the actions that they are. */
const PRIVILEGES: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  r: {
    SELECT: 'table.select',
    INSERT: 'table.commit',
    UPDATE: 'table.commit',
    DELETE: 'table.commit',
    TRUNCATE: 'table.commit',
    MAINTAIN: 'table.commit',
  },
  v: { SELECT: 'table.select' },
  m: { SELECT: 'table.select', MAINTAIN: 'view.replace' },
  n: { USAGE: 'schema.resolve', CREATE: 'table.create' },
  d: { CONNECT: 'catalog.resolve', CREATE: 'schema.create' },
};

/** Postgres' own relations (`s`) and schemas (`b`) are there for everybody. */
const OF_EVERYBODY = [
  { kind: 's', privileges: pgList(['SELECT']) },
  { kind: 'b', privileges: pgList(['USAGE']) },
];

/** The privileges that the caller has with objects of each kind. */
export type CallersRights = { readonly user: string; readonly privileges: Readonly<Record<string, readonly string[]>> };

export const rightsOf = (caller: Caller): CallersRights => ({
  user: caller.claims.preferred_username,
  privileges: Object.fromEntries(
    Object.entries(PRIVILEGES).map(([kind, actions]) => [
      kind,
      Object.entries(actions).flatMap(([name, action]) => (mayDo(caller, action) ? [name] : [])),
    ]),
  ),
});

/** The rows of `skein_rights`. */
export const rightsRows = (caller: Caller): readonly Readonly<Record<string, MadeValue>>[] => [
  ...OF_EVERYBODY,
  ...Object.entries(rightsOf(caller).privileges).map(([kind, privileges]) => ({
    kind,
    privileges: pgList(privileges),
  })),
];

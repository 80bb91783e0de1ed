/** One row, which counts refusals that count for no user: they must take as long as a wrong password, whose count is written. */
export const UNKNOWN_SIGN_IN_MIGRATION: readonly string[] = [
  `create table catalog.unknown_sign_in (one boolean primary key default true check (one), failures bigint not null)`,
];

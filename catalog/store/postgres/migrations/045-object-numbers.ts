/**
 * Numbers of objects, as Postgres' clients know them: each is given once, by one sequence, and stays while the object lives. A step leaves
 * numbers for what belongs to a table (its primary key, the index of that, its row's type). Postgres' own begin at 16384, and end at 2^32.
 */
const NUMBER = `bigint not null default nextval('catalog.object_number')`;

export const OBJECT_NUMBERS_MIGRATION: readonly string[] = [
  `create sequence catalog.object_number as bigint start 16384 increment 8 maxvalue 4294967280`,
  ...['catalog', 'namespace', 'iceberg_table', 'iceberg_view'].flatMap((table) => [
    `alter table catalog.${table} add column oid ${NUMBER}`,
    `create unique index on catalog.${table} (oid)`,
  ]),
  // A table that comes back has its number; null = it was dropped before there were any.
  `alter table catalog.dropped_table add column oid bigint`,
];

import { afterAll, beforeAll, expect, test } from 'vitest';
import { RESOLVE } from '#catalog/internal/table-loader.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { changesAnswers } from './settling-dialect.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog[Symbol.asyncDispose]());

/** Tables of principals and their rights. */
const OF_PRINCIPALS = ['principal', 'role', 'role_grant', 'privilege_grant', 'group_role', 'group_member'];
/** Tables whose changes nobody is told of, though an answer reads them. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  folder_claim:
    'a folder is closed by a change of its table or of a binding, and opened without anybody waiting for it',
  dropped_table: 'only bindings of tables that are gone go with its rows',
};

const CHANGES = ['insert into', 'update', 'delete from'] as const;
const isTold = (table: string, change: (typeof CHANGES)[number]): boolean =>
  changesAnswers(`${change} "catalog"."${table}" x`) && changesAnswers(`with y as (${change} catalog.${table}) select`);

/** Tables that the statement reads by which names are resolved. */
async function tablesOfAnswers(): Promise<readonly string[]> {
  await catalog.sql(`create view answers as ${RESOLVE.replaceAll(/\$\d+/g, "'{}'")}`);
  const rows = await catalog.sql(`
    select distinct c.relname as name from pg_rewrite w
      join pg_depend d on d.objid = w.oid and d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      join pg_class c on c.oid = d.refobjid and c.relkind in ('r', 'p')
    where w.ev_class = 'answers'::regclass`);
  return rows.map((row) => (row as { readonly name: string }).name);
}

type Effect = { readonly table: string; readonly source: string };

/** Triggers with what they run, and what the functions run that these call. */
const TRIGGERS = `
  with recursive runs as (
    select t.tgrelid as relation, p.proname, p.prosrc from pg_trigger t join pg_proc p on p.oid = t.tgfoid where not t.tgisinternal
    union
    select r.relation, p.proname, p.prosrc from runs r join pg_proc p
      on p.pronamespace = 'catalog'::regnamespace and r.prosrc ~ ('catalog\\.' || p.proname || '\\M')
  )
  select c.relname as table, r.prosrc as source from runs r join pg_class c on c.oid = r.relation`;

/** Rows that go with a row of another table. */
const REFERENCES = `
  select p.relname as table, 'delete from catalog.' || c.relname as source from pg_constraint f
  join pg_class c on c.oid = f.conrelid join pg_class p on p.oid = f.confrelid where f.contype = 'f' and f.confdeltype = 'c'`;

test('coordinators are told of every change of what an answer reads, and of what takes such rows with it', async () => {
  const answers = await tablesOfAnswers();
  expect(answers).toContain('iceberg_table');
  const told = [...new Set([...answers, ...OF_PRINCIPALS])].filter((table) => LEFT_OUT[table] === undefined);
  const untold = told.filter((table) => !CHANGES.every((change) => isTold(table, change)));
  expect(untold).toEqual([]);
  const effects = (await catalog.sql(`${TRIGGERS} union all ${REFERENCES}`)) as readonly Effect[];
  expect(effects.length).toBeGreaterThan(20);
  const causes = effects.filter(({ source }) =>
    told.some((table) => new RegExp(`(insert into|update|delete from) catalog\\.${table}\\b`).test(source)),
  );
  const silent = causes.filter(({ table }) => LEFT_OUT[table] === undefined && !isTold(table, 'delete from'));
  expect([...new Set(silent.map(({ table }) => table))]).toEqual([]);
});

import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { contextSetupSql } from '#shared/sql/statement-context.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { CONTEXT_FUNCTIONS, isFunctionAllowed, TABLE_FUNCTIONS } from './function-policy.ts';
import { SCRIPTED_ASKER } from '#test/support/scripted/tables.ts';

let functions: { name: string; type: string; stability: string; definition: string }[];
beforeAll(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name), function_type, coalesce(stability, ''), coalesce(macro_definition, '')
    FROM duckdb_functions() ORDER BY ALL`,
  );
  functions = reader.getRows().map(([name, type, stability, definition]) => ({
    name: String(name),
    type: String(type),
    stability: String(stability),
    definition: String(definition),
  }));
});

const namesOf = (keep: (f: (typeof functions)[number]) => boolean): string[] => [
  ...new Set(functions.filter(keep).map((f) => f.name)),
];

test('a new release has its functions looked through: what is refused, by name', async () => {
  const called = namesOf((f) => ['scalar', 'aggregate', 'macro'].includes(f.type));
  const refused = called.filter((name) => !isFunctionAllowed(name) && !/^(?:__internal|pg_|has_|inet_)/.test(name));
  await expect(`${refused.join('\n')}\n`).toMatchFileSnapshot('golden/refused-functions.txt');
  const served = called.filter((name) => isFunctionAllowed(name) && !name.startsWith('icu_collate'));
  await expect(`${served.join('\n')}\n`).toMatchFileSnapshot('golden/served-functions.txt');
});

test('every function that depends on more than its arguments is decided', () => {
  const volatile = namesOf((f) => f.stability !== 'CONSISTENT' && f.stability !== '' && f.type === 'scalar');
  const served = volatile.filter((name) => isFunctionAllowed(name));
  const ours = served.filter((name) => CONTEXT_FUNCTIONS.has(name));
  expect(served.filter((name) => !ours.includes(name)).sort()).toEqual([
    'error',
    'gen_random_uuid',
    'random',
    'uuid',
    'uuidv4',
    'uuidv7',
  ]);
});

test('of the table functions only generators are served', () => {
  const tables = namesOf((f) => f.type === 'table' || f.type === 'table_macro');
  expect(tables.filter((name) => TABLE_FUNCTIONS.has(name)).sort()).toEqual([...TABLE_FUNCTIONS].sort());
  expect(tables.length).toBeGreaterThan(90);
});

test('a macro of DuckDB that is served reads no table, and calls nothing that is refused or depends on who asks', async () => {
  const planner = await sessionPlanner();
  const context = { nowMicros: '0', timeZone: 'UTC', currentUser: '', currentCatalog: '', currentSchema: '' };
  const defaults = { catalog: '', schema: '' };
  const served = functions.filter(
    (f) => f.type === 'macro' && isFunctionAllowed(f.name) && !CONTEXT_FUNCTIONS.has(f.name),
  );
  expect(served.length).toBeGreaterThan(60);
  for (const { name, definition } of served) {
    const request = { sql: `SELECT ${definition}`, defaults, context };
    const found = await planner.parse(request, SCRIPTED_ASKER, AbortSignal.timeout(10_000));
    expect({ name, tables: found.tables, contextual: found.contextual }).toEqual({
      name,
      tables: [],
      contextual: false,
    });
  }
});

test('every macro of the context is known as one', () => {
  const macros = contextSetupSql.map((sql) => /MACRO (\w+)\(/.exec(sql)?.[1] ?? sql);
  expect(macros.filter((name) => !CONTEXT_FUNCTIONS.has(name))).toEqual([]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { psqlScript } from '#test/support/postgres-programs.ts';

/** Every command of psql that describes something, of Skein and of the real Postgres with the same tables. */
let tables: BrowsedTables;
let ours: readonly string[];
let theirs: readonly string[];
beforeAll(async () => {
  tables = await browsedTables(`describes_${process.pid}`);
  [ours, theirs] = await Promise.all([printed(tables.ours), printed(tables.theirs)]);
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Those that take S, for what is built in, and +, for more of each. */
const PLAIN =
  `d da dA dAc dAf dAo dAp db dc dconfig dC dd dD ddp dE di ds dt dv dm des det deu dew df dF dFd dFp dFt dg dl dL dn do dO dp
  dP drds dRp dRs dT du dx dX dy l lo_list z`.split(/\s+/);
/** These do not. */
const NO_S = new Set(['dA', 'dF', 'dP', 'l', 'z', 'lo_list', 'drds']);
const NO_MORE = new Set(['z', 'drds', 'dAp', 'dE', 'ds', 'dm']);

const NAMES = [
  'customers',
  'orders',
  'order_names',
  'other.t',
  'customers_pkey',
  'public.*',
  'pg_catalog.pg_class',
  'nothing',
];
const MORE =
  String.raw`\dt other.*, \dt+ *.*, \dtvi, \dn+ other, \dp customers, \dd customers, \sv order_names, \sv+ order_names,
  \sf pg_catalog.array_append, \df array_a*, \df+ lower, \dfa sum, \dfw, \do = int4, \dT+ int*, \dconfig search_path, \dO *, \dFp+ default,
  \dAc btree int*, \dx+ plpgsql, \encoding`.split(/,\s+/);

const COMMANDS: readonly string[] = PLAIN.flatMap((name) => [
  `\\${name}`,
  ...(NO_MORE.has(name) ? [] : [`\\${name}+`]),
  ...(NO_S.has(name) ? [] : [`\\${name}S`]),
]).concat(
  NAMES.flatMap((name) => [`\\d ${name}`, `\\d+ ${name}`]),
  MORE,
);

const BETWEEN = '----';

/** The texts that the commands print, in their order. */
async function printed(url: URL): Promise<readonly string[]> {
  const text = await psqlScript(url.href, COMMANDS.map((command) => `${command}\n\\echo ${BETWEEN}\n`).join(''));
  // Whoever owns what is built in.
  return text.replaceAll(/\bpostgres\b/g, url.username).split(`${BETWEEN}\n`);
}

/** Commands that print something else, and why. One that comes to print the same has to be taken out. */
const DIFFERENCES: readonly { readonly commands: string; readonly why: string }[] = [
  {
    commands: String.raw`\d+, \dt+, \dt+ *.*, \dv+, \di+, \db+`,
    why: 'sizes are those of files in the warehouse, and a view has none',
  },
  { commands: String.raw`\dAf, \dAf+, \dAfS`, why: 'the order of texts that are put together without one' },
  { commands: String.raw`\dAo, \dAo+, \dAoS, \dL+`, why: 'operators and functions are named without their arguments' },
  { commands: String.raw`\dcS`, why: 'there are no conversions: UTF8 alone' },
  {
    commands: String.raw`\dconfig, \dconfig+, \dconfigS, \dconfig search_path`,
    why: 'settings are those of the server',
  },
  { commands: String.raw`\diS, \d pg_catalog.pg_class, \d+ pg_catalog.pg_class`, why: 'the catalog has no indexes' },
  {
    commands: String.raw`\dF, \dF+, \dFd, \dFd+, \dFdS, \dFp, \dFpS, \dFt, \dFt+, \dFtS`,
    why: 'of text search there is what is simple, without comments',
  },
  {
    commands: String.raw`\dg, \dg+, \dgS, \du, \du+, \duS`,
    why: 'there is one role, the caller, which is no superuser',
  },
  {
    commands: String.raw`\dn, \dn+, \dnS`,
    why: 'everything is the caller’s, also what Postgres has made',
  },
  { commands: String.raw`\dx, \dx+, \dxS, \dx+ plpgsql`, why: 'there are no extensions' },
  { commands: String.raw`\l, \l+, \dO, \dO+, \dOS, \dO *`, why: 'psql 15 fails with Postgres 18, and not here' },
  {
    commands: String.raw`\d+ order_names, \d+ public.*, \sv order_names, \sv+ order_names`,
    why: 'the query of a view stays as it was written',
  },
  { commands: String.raw`\sf pg_catalog.array_append`, why: 'functions have no texts' },
];

test('commands that describe print what they print with Postgres, but for the listed differences', () => {
  expect(ours).toHaveLength(COMMANDS.length + 1);
  const different = COMMANDS.filter((_, i) => ours[i] !== theirs[i]);
  expect(different.toSorted()).toEqual(DIFFERENCES.flatMap(({ commands }) => commands.split(', ')).toSorted());
});

test('no command fails', () => {
  const failed = COMMANDS.filter((_, i) => /ERROR|FATAL|invalid command/.test(ours[i] ?? ''));
  expect(failed).toEqual([]);
});

test('tables, views, keys and comments are told', () => {
  const told = (command: string): string => ours[COMMANDS.indexOf(command)] ?? '';
  expect(told(String.raw`\d+ customers`)).toContain('full_name|text||not null||extended|||as_written');
  expect(told(String.raw`\d customers`)).toContain('"customers_pkey" PRIMARY KEY, btree (id)');
  expect(told(String.raw`\dt other.*`)).toContain('other|t|table|');
  expect(told(String.raw`\dv+`)).toContain('names_of_orders');
  expect(told(String.raw`\dn+`)).toContain('far_away');
  expect(told(String.raw`\sv order_names`)).toContain('JOIN public.customers');
});

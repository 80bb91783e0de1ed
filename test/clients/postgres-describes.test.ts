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

const COMMANDS: readonly string[] = [
  ...PLAIN.flatMap((name) => [
    `\\${name}`,
    ...(NO_MORE.has(name) ? [] : [`\\${name}+`]),
    ...(NO_S.has(name) ? [] : [`\\${name}S`]),
  ]),
  ...[
    'customers',
    'orders',
    'order_names',
    'other.t',
    'customers_pkey',
    'public.*',
    'pg_catalog.pg_class',
    'nothing',
  ].flatMap((name) => [`\\d ${name}`, `\\d+ ${name}`]),
  ...[
    '\\dt other.*',
    '\\dt+ *.*',
    '\\dtvi',
    '\\dn+ other',
    '\\dp customers',
    '\\dd customers',
    '\\sv order_names',
    '\\sv+ order_names',
  ],
  ...[
    '\\sf pg_catalog.array_append',
    '\\df array_a*',
    '\\df+ lower',
    '\\dfa sum',
    '\\dfw',
    '\\do = int4',
    '\\dT+ int*',
    '\\dconfig search_path',
  ],
  ...['\\dO *', '\\dFp+ default', '\\dAc btree int*', '\\dx+ plpgsql', '\\encoding'],
];

const BETWEEN = '----';

/** What each command prints. */
async function printed(url: URL): Promise<readonly string[]> {
  const text = await psqlScript(url.href, COMMANDS.map((command) => `${command}\n\\echo ${BETWEEN}\n`).join(''));
  return text.split(`${BETWEEN}\n`);
}

test('x', () => {
  for (const [i, command] of COMMANDS.entries()) {
    const [mine = '', real = ''] = [ours[i], theirs[i]];
    if (mine === real) continue;
    const [m, r] = [mine.split('\n'), real.split('\n')];
    console.log(
      `${command} ${m.length} ${r.length}\n${r
        .filter((l) => !m.includes(l))
        .slice(0, 5)
        .map((l) => '- ' + l.slice(0, 200))
        .join('\n')}\n${m
        .filter((l) => !r.includes(l))
        .slice(0, 5)
        .map((l) => '+ ' + l.slice(0, 200))
        .join('\n')}`,
    );
  }
  expect(ours).toHaveLength(COMMANDS.length + 1);
});

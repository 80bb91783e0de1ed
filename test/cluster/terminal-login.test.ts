import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atLocalhost } from '#shared/config/loopback.ts';
import { projectRoot, skein, type Cluster, type CliResult } from '#test/support/cluster.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A person in a terminal of another machine: `skein login`, and the commands with his own rights until `skein logout`. */
let cluster: Cluster;
let folder: string;
let env: Record<string, string>;
const USER = { username: 'cluster_term', password: 'Battery-Staple-7' };

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  folder = await mkdtemp(join(tmpdir(), 'skein-terminal-'));
  // No cluster runs in its data directory.
  env = { SKEIN_CLIENT_LOGIN_FILE: join(folder, 'login.json'), SKEIN_DATA_DIR: join(folder, 'none') };
  await cluster.sql(`CREATE USER ${USER.username} EMAIL 'term@example.org' PASSWORD '${USER.password}'`);
});
afterAll(async () => {
  await cluster.sql(`DROP USER ${USER.username} CASCADE`);
  await rm(folder, { recursive: true, force: true });
});

/** `skein login --no-browser`: the person opens the address that it prints, agrees, and brings the code. @returns what it says at its end */
async function login(): Promise<string> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    'cli/skein.js',
    'login',
    '--no-browser',
    '--url',
    cluster.queryUrl,
  ];
  const child = spawn(process.execPath, args, { cwd: projectRoot, env: { ...process.env, ...env } });
  const ended = once(child, 'close');
  let said = '';
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await expect.poll(() => printed, { timeout: patience(30_000) }).toContain('Paste the code');
  const address = new URL(/^ {2}(http\S+)\n/m.exec(printed)?.[1] ?? '');
  const visitor = new PageVisitor(atLocalhost(cluster.catalogUrl));
  const path = address.pathname + address.search;
  await visitor.get(path);
  await visitor.submit('/sign-in', USER);
  const fields = { ...Object.fromEntries(address.searchParams), answer: 'allow' };
  const { text } = await visitor.submit(path, fields, { action: '/oauth/authorize' });
  child.stdin.end(`${/<output[^>]*>(.*?)</.exec(text)?.[1] ?? ''}\n`);
  const [code] = (await ended) as [number];
  expect([code, code === 0 ? '' : printed]).toEqual([0, '']);
  return said;
}
const command = (...args: readonly string[]): Promise<CliResult> => skein(args, { env });
const sql = (text: string): Promise<CliResult> => command('sql', '-e', text);

test('skein login, sql, put, get and whoami as this person, and nothing after skein logout', async () => {
  expect(await login()).toBe(`signed in as ${USER.username} of default\n`);
  expect((await sql('SELECT current_user() AS u')).stdout).toContain(USER.username);
  for (const text of ['CREATE SCHEMA lake.cluster_term', 'CREATE STAGE lake.cluster_term.inbox']) {
    expect(await sql(text)).toMatchObject({ code: 0 });
  }
  const file = join(folder, 'march.csv');
  await writeFile(file, 'a,b\n1,2\n');
  expect(await command('put', file, '@lake.cluster_term.inbox/in/')).toMatchObject({ code: 0 });
  expect(await command('get', '@lake.cluster_term.inbox/in', join(folder, 'copies'))).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'copies', 'march.csv'), 'utf8')).toBe('a,b\n1,2\n');
  expect((await command('whoami')).stdout).toContain(USER.username);
  // His rights, and not those of the operator.
  expect((await sql(`CREATE USER cluster_none EMAIL 'none@example.org'`)).stderr).toContain('FORBIDDEN');
  expect(await command('logout')).toMatchObject({ code: 0 });
  expect((await sql('SELECT 1')).code).not.toBe(0);
  expect((await command('get', '@lake.cluster_term.inbox/in', join(folder, 'more'))).code).not.toBe(0);
  await cluster.sql('DROP STAGE lake.cluster_term.inbox');
  await cluster.sql('DROP SCHEMA lake.cluster_term');
});

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { projectRoot, type Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole } from '#test/support/console.ts';

/** Debian's chromium looks into the catalog, mends a table, brings one back, and runs the organisation. */

/** Names are texts, whatever they look like. */
const HOSTILE = `a "quoted" <img src=x onerror=alert(1)> 😀`;
let cluster: Cluster;
let browser: Browser;
let axe: string;
const table = `console_pages.s.${quoteIdentifier(HOSTILE)}`;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  axe = await readFile(join(projectRoot, 'node_modules/axe-core/axe.min.js'), 'utf8');
  for (const sql of [
    'CREATE CATALOG console_pages',
    'CREATE SCHEMA console_pages.s',
    `CREATE TABLE ${table} (id BIGINT NOT NULL COMMENT '<b>key</b>', region VARCHAR, s STRUCT(a INT, b VARCHAR[])) PARTITIONED BY (region)`,
    `COMMENT ON TABLE ${table} IS '<script>alert(1)</script>'`,
    ...Array.from({ length: 12 }, (_, i) => `INSERT INTO ${table} VALUES (${i}, 'r${i % 3}', NULL)`),
    `ALTER TABLE ${table} CREATE BRANCH work`,
    `CREATE VIEW console_pages.s.v AS SELECT 1 AS one`,
    'CREATE STAGE console_pages.s.inbox',
    'CREATE TABLE console_pages.s.gone (id BIGINT)',
  ]) {
    const { status, body } = await cluster.query(sql);
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
  }
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const at = (name: string, more = ''): string => `/console/catalog/console_pages/s/${encodeURIComponent(name)}${more}`;

/** Runs the statement of the form that is open, and waits for its end. */
async function run(page: Page, form: string): Promise<void> {
  const section = page.getByRole('region', { name: form, exact: true });
  await section.getByRole('button', { name: 'Run', exact: true }).click();
  await section.getByText(/^Done in/).waitFor();
}

/** Everything that the browser keeps for the page: its storages, its databases, the state of its history. */
const storageOf = async (page: Page): Promise<string> =>
  String(
    await page.evaluate(`(async () => {
      const databases = [];
      for (const { name } of await indexedDB.databases()) {
        const db = await new Promise((done, failed) => Object.assign(indexedDB.open(name), { onsuccess: ({ target }) => done(target.result), onerror: failed }));
        for (const store of db.objectStoreNames) {
          const all = await new Promise((done, failed) => Object.assign(db.transaction(store).objectStore(store).getAll(), { onsuccess: ({ target }) => done(target.result), onerror: failed }));
          databases.push([name, store, all]);
        }
        db.close();
      }
      return JSON.stringify([databases, Object.entries(localStorage), Object.entries(sessionStorage), history.state]);
    })()`),
  );

async function faultsOf(page: Page): Promise<readonly string[]> {
  // The page's own policy lets no other script in; the browser's own door does.
  if ((await page.evaluate(`'axe' in window`)) !== true) await page.evaluate(axe);
  return page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  );
}

test('a table is found in its schema, looked at in every tab, tagged, and mended by the button of a finding', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/catalog/console_pages/s' });
  await page.getByRole('link', { name: HOSTILE }).click();
  await page.getByRole('heading', { name: HOSTILE }).waitFor();
  // The tree shows where the page is.
  const tree = page.getByRole('tree', { name: 'Catalog' });
  await tree.getByRole('treeitem', { name: HOSTILE, selected: true }).waitFor();
  await page.getByText('<script>alert(1)</script>', { exact: true }).first().waitFor();
  await page.getByRole('region', { name: 'Columns' }).getByText('<b>key</b>').waitFor();
  await page.getByRole('region', { name: 'Columns' }).getByText('STRUCT<a: INT, b: ARRAY<VARCHAR>>').waitFor();
  await tab(page, 'History').click();
  const snapshots = page.getByRole('region', { name: 'Snapshots' });
  await snapshots.getByText('branch work').waitFor();
  await button(page, 'Tag').click();
  await page.getByLabel('TAG', { exact: true }).fill('june "x"');
  await run(page, 'Tag');
  await snapshots.getByText('tag june "x"').waitFor();
  await page.getByLabel('Compare with').selectOption({ index: 5 });
  await page.getByRole('region', { name: 'Partitions that differ' }).waitFor();
  await tab(page, 'Files').click();
  await page.getByRole('region', { name: 'Partitions by size' }).getByRole('cell', { name: 'r2' }).waitFor();
  await tab(page, 'Health').click();
  const finding = page.getByRole('region', { name: 'small_files' });
  await finding.getByText(/^12 of 12 data files are smaller/).waitFor();
  await finding.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'Before and after' }).getByRole('row', { name: 'Data files 12 3' }).waitFor();
  await page.getByText('Nothing to mend.').waitFor();
  await tab(page, 'Rows').click();
  await page.getByRole('region', { name: 'The first 100 rows' }).getByRole('cell', { name: 'r1' }).first().waitFor();
  await tab(page, 'Definition').click();
  await page
    .getByLabel('Definition')
    .getByText(/^CREATE TABLE/)
    .waitFor();
  await tab(page, 'Connect').click();
  await page.getByRole('region', { name: 'PyIceberg' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a table that is dropped by its name comes back by UNDROP, where the catalog keeps it', async () => {
  await cluster.cliOk(['admin', 'catalog', 'alter', 'console_pages', '--undrop-window', '1h']);
  const { page, faults } = await openConsole(cluster, browser, { path: at('gone') });
  await button(page, 'Drop the table').click();
  const form = page.getByRole('region', { name: 'Drop the table' });
  expect(await form.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  await form.getByLabel('Type the name gone to go on').fill('gone');
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  // The page of what is no more is that of its schema.
  await page.getByRole('heading', { name: 's schema', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'gone', exact: true }).count()).toBe(0);
  await page.goto(`${cluster.queryUrl}/console/catalog/console_pages?tab=Dropped%20tables`);
  await page.getByRole('row').filter({ hasText: 's.gone' }).getByRole('button', { name: 'UNDROP' }).click();
  await run(page, 'Bring s.gone back');
  expect((await cluster.query('SELECT count(*) AS n FROM console_pages.s.gone')).status).toBe(200);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a stage and a table get other names, and the page is theirs under the new ones', async () => {
  await cluster.sql('CREATE STAGE console_pages.s.first_name');
  const { page, faults } = await openConsole(cluster, browser, { path: at('first_name', '?tab=Stage') });
  const rename = async (to: string, title: string): Promise<void> => {
    await button(page, 'Rename').click();
    const form = page.getByRole('region', { name: 'Rename', exact: true });
    await form.getByLabel('RENAME TO').fill(to);
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: title }).waitFor();
  };
  await rename(`stage ${HOSTILE}`, `stage ${HOSTILE}`);
  expect(new URL(page.url()).pathname).toBe(at(`stage ${HOSTILE}`));
  await page.getByText('No file is here yet.').waitFor();
  await cluster.sql('CREATE TABLE console_pages.s.second_name (id BIGINT)');
  await page.goto(`${cluster.queryUrl}${at('second_name')}`);
  await rename('third/name %', 'third/name %');
  expect(await cluster.sql('SELECT count(*) AS n FROM console_pages.s."third/name %"')).toEqual([[0]]);
  await cluster.sql('DROP TABLE console_pages.s."third/name %"');
  await cluster.sql(`DROP STAGE console_pages.s.${quoteIdentifier(`stage ${HOSTILE}`)}`);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a file is dropped into a stage, goes on after the connection was lost, and is removed', async () => {
  const { page } = await openConsole(cluster, browser, { path: at('inbox', '?tab=Stage') });
  let cut = 2;
  await page.route('**/v1/stages/**', async (route) => {
    if (route.request().method() === 'PUT' && cut > 0) {
      cut -= 1;
      await route.abort('connectionreset');
    } else await route.continue();
  });
  const bytes = Buffer.alloc(20 * 2 ** 20, 'a,b\n');
  await page
    .getByLabel('Drop files here, or choose them')
    .setInputFiles({ name: "it's <b>.csv", mimeType: 'text/csv', buffer: bytes });
  await page.getByText("it's <b>.csv is there").waitFor();
  const row = page.getByRole('row').filter({ hasText: "it's <b>.csv" });
  await row.getByText('20.0 MiB').waitFor();
  expect(cut).toBe(0);
  await row.getByRole('button', { name: 'Remove' }).click();
  const form = page.getByRole('region', { name: "Remove it's <b>.csv" });
  await form.getByLabel(/^Type the name/).fill("it's <b>.csv");
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('No file is here yet.').waitFor();
  await page.context().close();
});

test('a file is loaded: types are proposed, bad records are shown with their lines, and the table has the rest', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/catalog/console_pages/s' });
  await button(page, 'Load a file').click();
  const csv = ['id;code;at', '1;007;2024-01-31', "2;'x';2024-02-29", '3;<b>;', ''].join('\n');
  await page
    .getByLabel('Drop a file here, or choose it')
    .setInputFiles({ name: "o'brien.csv", mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await page.getByLabel('FIELD_DELIMITER').selectOption('semicolon');
  const first = page.getByRole('region', { name: 'First rows' });
  await first.getByText('<b>', { exact: true }).waitFor();
  const typeOf = (name: string): Promise<string> => page.getByLabel(`Type of ${name}`).inputValue();
  expect(await Promise.all(['id', 'code', 'at'].map(typeOf))).toEqual(['BIGINT', 'VARCHAR', 'DATE']);
  await page.getByLabel('Type of code').fill('INTEGER');
  await page.getByLabel('TABLE', { exact: true }).fill(`loaded "${HOSTILE}"`);
  const step = async (name: string, label = name): Promise<void> => {
    const section = page.getByRole('region', { name, exact: true });
    await section.getByRole('button', { name: label, exact: true }).click();
    await section.getByText(/^Done in/).waitFor();
  };
  await step('Make the table');
  await step('Look for bad records', 'Validate');
  const bad = page.getByRole('region', { name: 'Look for bad records' }).getByRole('row');
  await bad.filter({ hasText: "2;'x';2024-02-29" }).getByRole('cell', { name: '3', exact: true }).waitFor();
  expect(await bad.count()).toBe(3);
  await page.getByLabel('ON_ERROR').selectOption('CONTINUE');
  await step('Load');
  await page.getByText('PARTIALLY_LOADED').waitFor();
  await step('Take the file away', 'Remove');
  const loaded = `console_pages.s.${quoteIdentifier(`loaded "${HOSTILE}"`)}`;
  expect(await cluster.sql(`SELECT * FROM ${loaded}`)).toEqual([[1, 7, '2024-01-31']]);
  expect(await faultsOf(page)).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a file of JSON goes to the columns of a table that is there, and what is not wanted is left out', async () => {
  await cluster.sql('CREATE TABLE console_pages.s.there (id BIGINT, note VARCHAR)');
  const { page } = await openConsole(cluster, browser, { path: at('there') });
  await button(page, 'Load a file').click();
  const json = '{"ID": 9007199254740993, "note": "a", "more": [1]}\n{"ID": 2, "note": null, "more": []}\n';
  await page
    .getByLabel('Drop a file here, or choose it')
    .setInputFiles({ name: 'x.ndjson', mimeType: 'application/json', buffer: Buffer.from(json) });
  await page.getByLabel('Column for note').selectOption('left out');
  expect(await page.getByLabel('Column for more').inputValue()).toBe('');
  const section = page.getByRole('region', { name: 'Load', exact: true });
  await section.getByRole('button', { name: 'Load', exact: true }).click();
  await section.getByText(/^Done in/).waitFor();
  const rows = await cluster.sql('SELECT id::VARCHAR, note FROM console_pages.s.there ORDER BY id');
  expect(rows).toEqual([
    ['2', null],
    ['9007199254740993', null],
  ]);
  await page.context().close();
});

test('people, tokens and the audit log: a password is in no statement that is shown, and a token is shown once', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/admin/users' });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const logged: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  await button(page, 'Create a user').click();
  const form = page.getByRole('region', { name: 'Create a user' });
  await form.getByLabel('NAME', { exact: true }).fill('o\'brien "x"');
  await form.getByLabel('EMAIL').fill('console@example.org');
  await form.getByLabel(/^PASSWORD/).fill('Correct-Horse-9');
  expect(await form.getByLabel('Statement').innerText()).toBe(
    `CREATE USER "o'brien ""x""" EMAIL = 'console@example.org' PASSWORD = ? MUST_CHANGE_PASSWORD = TRUE`,
  );
  await run(page, 'Create a user');
  expect(await form.getByLabel(/^PASSWORD/).inputValue()).toBe('');
  // A picture of the page has nothing of it.
  expect(await page.content()).not.toContain('Correct-Horse');
  await page.getByLabel('Search', { exact: true }).fill('CONSOLE@');
  await button(page, 'o\'brien "x"').click();
  await page.getByRole('region', { name: 'About o\'brien "x"' }).getByText('console@example.org').waitFor();
  await page.goto(`${cluster.queryUrl}/console/admin/audit?event=create_user`);
  await page.getByRole('row').filter({ hasText: "o'brien" }).first().waitFor();
  await page.goto(`${cluster.queryUrl}/console/admin/tokens`);
  await button(page, 'Create a token').click();
  await page.getByRole('region', { name: 'Create a token' }).getByLabel('NAME', { exact: true }).fill('from the page');
  await run(page, 'Create a token');
  const shown = await page.getByText(/^skein_pat_/).innerText();
  await button(page, 'Copy token').click();
  await page.getByText('Copied', { exact: true }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
  await page.reload();
  await page.getByRole('region', { name: 'Tokens', exact: true }).getByText('from the page').waitFor();
  expect(await page.content()).not.toContain('skein_pat_');
  const kept = await storageOf(page);
  expect(kept).toContain('tabs');
  expect(`${kept} ${requests.join(' ')} ${logged.join(' ')}`).not.toMatch(/Correct-Horse|skein_pat_/);
  const { body } = await cluster.query('SELECT sql FROM (SHOW QUERY HISTORY LIMIT 200)');
  expect(JSON.stringify(body)).not.toMatch(/Correct-Horse|skein_pat_/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a policy tells who is affected, and a table is seen as one of the reader’s own roles', async () => {
  const policy = 'hide "x.y" <b>';
  await cluster.sql('CREATE TABLE console_pages.s.seen AS SELECT 7 AS salary');
  for (const sql of [
    `CREATE ROLE "o'hr"`,
    `CREATE USER console_boss EMAIL 'console_boss@example.org' PASSWORD 'Correct-Horse-9'`,
    'GRANT ROLE tenant_admin TO USER console_boss',
    `GRANT ROLE "o'hr" TO USER console_boss`,
    `CREATE USER console_exempt EMAIL 'console_exempt@example.org' PASSWORD 'Correct-Horse-9'`,
    'GRANT BYPASS POLICIES TO USER console_exempt',
    `CREATE MASKING POLICY console_pages.s.${quoteIdentifier(policy)} AS (val INTEGER) RETURNS INTEGER
       -> CASE WHEN is_role_in_session('o''hr') THEN val ELSE -1 END`,
    `ALTER TABLE console_pages.s.seen ALTER COLUMN salary SET MASKING POLICY console_pages.s.${quoteIdentifier(policy)}`,
  ]) {
    await cluster.sql(sql);
  }
  const token = await cluster.token({ user: 'console_boss' });
  const { page, faults } = await openConsole(cluster, browser, { token, path: '/console/admin/policies' });
  await page.getByLabel('Kind').selectOption('MASKING');
  await button(page, policy).click();
  const about = page.getByRole('region', { name: `Policy ${policy}` });
  await about.getByText("Its body goes by the role o'hr.").waitFor();
  const listed = (region: string, name: string) =>
    about.getByRole('region', { name: region, exact: true }).getByText(name, { exact: true }).first().waitFor();
  await listed(`Tables of ${policy}`, 'seen');
  await listed("Users with the role o'hr", 'console_boss');
  await listed('Users with BYPASS POLICIES', 'console_exempt');
  const view = page.getByRole('region', { name: 'As this role' });
  await view.getByLabel(/^TABLE/).fill('console_pages.s.seen');
  expect((await view.getByLabel(/^ROLE/).locator('option').allInnerTexts()).toSorted()).toEqual([
    "o'hr",
    'public',
    'tenant_admin',
  ]);
  for (const [role, value] of [
    ["o'hr", '7'],
    ['public', '-1'],
  ] as const) {
    await view.getByLabel(/^ROLE/).selectOption(role);
    await view.getByRole('button', { name: 'Show' }).click();
    await view
      .getByRole('region', { name: `Rows as ${role}` })
      .getByText(value, { exact: true })
      .waitFor();
    await view.getByRole('region', { name: 'Rows with all roles' }).getByText('7', { exact: true }).waitFor();
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a private key is refused in the browser', async () => {
  const { page } = await openConsole(cluster, browser, { path: '/console/admin/service-accounts' });
  await cluster.query('CREATE SERVICE ACCOUNT console_machine');
  await page.reload();
  await button(page, 'console_machine').click();
  await button(page, 'Add a key to console_machine').click();
  const form = page.getByRole('region', { name: 'Add a key to console_machine' });
  await form.getByLabel('KEY_ID').fill('k');
  await form.getByLabel('PUBLIC_KEY').fill('-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----');
  await form
    .getByRole('alert')
    .getByText(/private key, which never leaves/)
    .waitFor();
  expect(await form.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
  expect(await form.getByLabel('Statement').innerText()).toBe('…');
  await page.context().close();
});

test('a reader sees whole pages that say what he may not', async () => {
  const token = await cluster.token({ scope: ['catalog:read', 'namespace:read', 'table:read'] });
  const { page, faults } = await openConsole(cluster, browser, { token, path: at(HOSTILE, '?tab=Health') });
  await page.getByRole('heading', { name: HOSTILE }).waitFor();
  await button(page, 'Comment').click();
  await page
    .getByText(/Your token does not allow table.commit/)
    .first()
    .waitFor();
  for (const path of ['users', 'roles', 'service-accounts', 'policies', 'webhooks', 'audit', 'usage', 'workload']) {
    await page.goto(`${cluster.queryUrl}/console/admin/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (path === 'audit') await page.getByText('FORBIDDEN').waitFor();
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the holder of each privilege is offered what it allows, and told what else needs', async () => {
  const pages = {
    'MANAGE USERS': ['users', 'Create a user'],
    'MANAGE SERVICE ACCOUNTS': ['service-accounts', 'Create a service account'],
    'MANAGE POLICIES': ['policies', 'Create a policy'],
  } as const;
  const user = 'console_holder';
  await cluster.sql(`CREATE USER ${user} EMAIL '${user}@example.org' PASSWORD 'Correct-Horse-9'`);
  for (const privilege of Object.keys(pages)) {
    await cluster.sql(`GRANT ${privilege} TO USER ${user}`);
    const token = await cluster.token({ user });
    const { page, faults } = await openConsole(cluster, browser, { token, path: '/console/admin/users' });
    for (const [needed, [path, create]] of Object.entries(pages)) {
      if (path !== 'users') await page.goto(`${cluster.queryUrl}/console/admin/${path}`);
      await button(page, create).click();
      const form = page.getByRole('region', { name: create, exact: true });
      await form.getByRole('button', { name: 'Run', exact: true }).waitFor();
      const told = await form.getByText(`This needs tenant_admin or the privilege ${needed}.`).count();
      expect([privilege, path, told]).toEqual([privilege, path, needed === privilege ? 0 : 1]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
    await cluster.sql(`REVOKE ${privilege} FROM USER ${user}`);
  }
});

test('the holder of MANAGE PATS makes and drops a token of another; whoever has another privilege is told', async () => {
  // The token is one of a user without more rights: the server gives nobody a token of an administrator.
  await cluster.sql("CREATE USER console_plain EMAIL 'console_plain@example.org' PASSWORD 'Correct-Horse-9'");
  for (const [user, privilege] of [
    ['console_pats', 'MANAGE PATS'],
    ['console_no_pats', 'MANAGE SERVICE ACCOUNTS'],
  ] as const) {
    await cluster.sql(`CREATE USER ${user} EMAIL '${user}@example.org' PASSWORD 'Correct-Horse-9'`);
    await cluster.sql(`GRANT ${privilege} TO USER ${user}`);
    const token = await cluster.token({ user });
    const { page, faults } = await openConsole(cluster, browser, { token, path: '/console/admin/tokens' });
    await page.getByLabel('Tokens of').fill('console_plain');
    await page.getByLabel('Tokens of').blur();
    await button(page, 'Create a token').click();
    const form = page.getByRole('region', { name: 'Create a token' });
    await form.getByLabel('NAME', { exact: true }).fill('given "x"');
    const isRefused = privilege !== 'MANAGE PATS';
    expect(await form.getByText('This needs tenant_admin or the privilege MANAGE PATS.').count()).toBe(
      isRefused ? 1 : 0,
    );
    expect(await form.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(isRefused);
    if (isRefused) await page.getByText('FORBIDDEN').waitFor();
    else {
      await run(page, 'Create a token');
      await page.getByText(/^skein_pat_/).waitFor();
      await page.getByRole('region', { name: 'Tokens', exact: true }).getByText('given "x"').waitFor();
      await button(page, 'Drop a token').click();
      const drop = page.getByRole('region', { name: 'Drop a token' });
      await drop.getByLabel('NAME', { exact: true }).fill('given "x"');
      await run(page, 'Drop a token');
      // It is gone.
      const left = await cluster.sql('SHOW PERSONAL ACCESS TOKENS FOR console_plain');
      expect(left).toEqual([]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  }
});

describe('axe-core finds nothing, and nothing is wider than the screen', () => {
  test.each([
    ['light', [1280, 360]],
    ['dark', [1280]],
  ] as const)('%s', async (colorScheme, widths) => {
    const shots = join(projectRoot, 'node_modules/.cache/console-shots');
    await mkdir(shots, { recursive: true });
    const paths = [
      '/console/catalog',
      '/console/catalog/console_pages/s',
      ...['Columns', 'History', 'Files', 'Health', 'Rows', 'Connect'].map((name) => at(HOSTILE, `?tab=${name}`)),
      at('v', '?tab=Versions'),
      at('inbox', '?tab=Stage'),
      ...['users', 'roles', 'service-accounts', 'tokens', 'policies', 'webhooks', 'audit', 'usage', 'workload'].map(
        (path) => `/console/admin/${path}`,
      ),
    ];
    const found: string[] = [];
    const { page } = await openConsole(cluster, browser, { colorScheme, path: '/console/catalog' });
    for (const [i, path] of paths.entries()) {
      await page.setViewportSize({ width: widths[0], height: 740 });
      if (i > 0) await page.goto(`${cluster.queryUrl}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.getByText(/^(?:Loading|Looking|Running) …$/).count()).toBe(0);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 740 });
        found.push(...(await faultsOf(page)).map((fault) => `${path} ${width}: ${fault}`));
        const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        if ((await page.evaluate(isWide)) === true) found.push(`${path} ${width}: wider than the screen`);
        await page.screenshot({ path: join(shots, `${colorScheme}-${width}-${i}.png`) });
      }
    }
    await page.context().close();
    expect(found).toEqual([]);
  });
});

test('Catalog and Administer load at most 250 KB beyond Ask, compressed', async () => {
  const folder = join(projectRoot, 'console/dist/assets');
  const names = (await readdir(folder)).filter((name) =>
    /^(?:catalog-page|admin-page|inspect|rows-tab|statement-panel|action-form)-.*\.gz$/.test(name),
  );
  expect(names.length).toBeGreaterThan(1);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(folder, name))).length));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250 * 1024);
});

import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole } from '#test/support/console.ts';

/** The journeys through the catalog and its administration, by the keyboard alone. */

const CATALOG = 'console_keys';
/** More places than a page has. */
const PLACES_MAX = 300;
let cluster: Cluster;
let browser: Browser;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  for (const sql of [
    `CREATE CATALOG ${CATALOG}`,
    `CREATE SCHEMA ${CATALOG}.s`,
    `CREATE TABLE ${CATALOG}.s.small (id BIGINT)`,
    ...Array.from({ length: 12 }, (_, i) => `INSERT INTO ${CATALOG}.s.small VALUES (${i})`),
    `CREATE TABLE ${CATALOG}.s.gone AS SELECT 1 AS id`,
  ]) {
    await cluster.sql(sql);
  }
  await cluster.cliOk(['admin', 'catalog', 'alter', CATALOG, '--undrop-window', '1h']);
  await cluster.sql(`DROP TABLE ${CATALOG}.s.gone`);
});

type Keys = {
  readonly page: Page;
  readonly faults: readonly string[];
  /** Goes on with Tab until a place of this name has the focus; the name may go on in a new line. */
  readonly reach: (name: string) => Promise<void>;
  readonly press: (name: string) => Promise<void>;
  readonly write: (name: string, text: string) => Promise<void>;
};

/** The beginning of the name of what has the focus, as a reader of screens has it. */
const FOCUSED = `(() => {
  const at = document.activeElement;
  const name = at?.getAttribute('aria-label') ?? at?.labels?.[0]?.innerText ?? at?.innerText ?? '';
  return name.trim().split('\\n')[0];
})()`;

async function open(path: string): Promise<Keys> {
  const { page, faults } = await openConsole(cluster, browser, { path });
  const reach = async (name: string): Promise<void> => {
    const passed: unknown[] = [];
    for (let i = 0; i < PLACES_MAX; i += 1) {
      await page.keyboard.press('Tab');
      const now: unknown = await page.evaluate(FOCUSED);
      if (now === name) return;
      passed.push(now);
    }
    throw new Error(`no Tab leads to ${name}: ${passed.join(' | ')}`);
  };
  const press = async (name: string): Promise<void> => {
    await reach(name);
    await page.keyboard.press('Enter');
  };
  const write = async (name: string, text: string): Promise<void> => {
    await reach(name);
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  };
  return { page, faults, reach, press, write };
}

const done = (page: Page, form: string): Promise<void> =>
  page
    .getByRole('region', { name: form, exact: true })
    .getByText(/^Done in/)
    .waitFor();
const at = (more: string): string => `/console/catalog/${CATALOG}${more}`;

test('a file is loaded into a new table', async () => {
  const { page, faults, reach, press, write } = await open(at('/s'));
  await page.getByRole('heading', { name: 's schema', exact: true }).waitFor();
  // A browser that is told of it only as the key is pressed may open its own dialog, which nobody answers.
  const chosen = page.waitForEvent('filechooser');
  await press('Load a file');
  await reach('Drop a file here, or choose it');
  await page.keyboard.press('Enter');
  const chooser = await chosen;
  await chooser.setFiles({ name: 'k.csv', mimeType: 'text/csv', buffer: Buffer.from('id,v\n1,a\n2,b\n') });
  await page.getByRole('region', { name: 'First rows' }).getByText('b', { exact: true }).waitFor();
  await write('TABLE', 'by keys');
  await press('Make the table');
  await done(page, 'Make the table');
  await press('Validate');
  await done(page, 'Look for bad records');
  await press('Load');
  await done(page, 'Load');
  await press('Remove');
  await done(page, 'Take the file away');
  expect(await cluster.sql(`SELECT id, v FROM ${CATALOG}.s."by keys" ORDER BY id`)).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a catalog, a schema and a table get other names, and names back', async () => {
  const { page, faults, press, write } = await open(at('/s/small'));
  const rename = async (to: string, kind: string): Promise<void> => {
    await press('Rename');
    await write('RENAME TO', to);
    await press('Run');
    await page.getByRole('heading', { name: `${to} ${kind}`, exact: true }).waitFor();
  };
  await page.getByRole('heading', { name: 'small table', exact: true }).waitFor();
  await rename('smaller', 'table');
  expect(new URL(page.url()).pathname).toBe(at('/s/smaller'));
  await page.goto(`${cluster.queryUrl}${at('/s')}`);
  await page.getByRole('heading', { name: 's schema', exact: true }).waitFor();
  await rename('t', 'schema');
  await page.getByRole('link', { name: 'smaller', exact: true }).waitFor();
  await rename('s', 'schema');
  await page.goto(`${cluster.queryUrl}${at('')}`);
  await page.getByRole('heading', { name: `${CATALOG} catalog`, exact: true }).waitFor();
  await rename(`${CATALOG}_2`, 'catalog');
  await page.getByRole('link', { name: 's', exact: true }).waitFor();
  await rename(CATALOG, 'catalog');
  await cluster.sql(`ALTER TABLE ${CATALOG}.s.smaller RENAME TO small`);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the small files of a table become one', async () => {
  const { page, faults, reach, press } = await open(at('/s/small'));
  await page.getByRole('heading', { name: 'small table', exact: true }).waitFor();
  await reach('Columns');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowRight');
  expect(await page.evaluate(FOCUSED)).toBe('Health');
  await page.getByRole('region', { name: 'small_files' }).waitFor();
  await press('Run');
  await page.getByRole('region', { name: 'Before and after' }).getByRole('row', { name: 'Data files 12 1' }).waitFor();
  expect(await cluster.sql(`SELECT count(*)::INT AS n FROM ${CATALOG}.s.small`)).toEqual([[12]]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a dropped table comes back', async () => {
  const { page, faults, press } = await open(at('?tab=Dropped%20tables'));
  await page.getByRole('row').filter({ hasText: 's.gone' }).waitFor();
  await press('UNDROP');
  await page.getByRole('region', { name: 'Bring s.gone back' }).waitFor();
  await press('Run');
  await done(page, 'Bring s.gone back');
  expect(await cluster.sql(`SELECT id FROM ${CATALOG}.s.gone`)).toEqual([[1]]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person is invited, and the address is copied', async () => {
  const { page, faults, press, write } = await open('/console/admin/users');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await press('Create a user');
  await write('NAME', 'console_invited');
  await write('EMAIL', 'console_invited@example.org');
  await press('Run');
  await done(page, 'Create a user');
  await press('Copy invitation_url');
  await page.getByText('Copied', { exact: true }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^https?:\/\//);
  expect(await cluster.sql("SELECT status FROM (SHOW USERS LIKE 'console_invited')")).toEqual([['INVITED']]);
  await cluster.sql('DROP USER console_invited CASCADE');
  expect(faults).toEqual([]);
  await page.context().close();
});

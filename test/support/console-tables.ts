import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { parseJson } from '#shared/json.ts';
import type { Cluster } from './cluster.ts';
import { openConsole } from './console.ts';
import { python } from './python.ts';

/** A table as PyIceberg tells of it (`console_tables.py`). */
type ToldTable = {
  readonly format: number;
  /** Name, type, whether it may be NULL, comment, id. */
  readonly columns: readonly (readonly string[])[];
  readonly snapshots: Readonly<Record<string, ToldSnapshot>>;
  readonly files: number;
  /** As the current snapshot's summary has it; null: its writer has not told. */
  readonly files_by_summary: number | null;
  readonly records: number;
  /** Values, files, rows. */
  readonly partitions: readonly (readonly (string | number | null)[])[];
  readonly ids: readonly number[];
};
type ToldSnapshot = {
  readonly operation: string;
  readonly added: number | null;
  readonly deleted: number | null;
  readonly names: readonly string[];
  readonly current: boolean;
};

/** PyIceberg's own answer about the tables of a namespace; it makes them first, when asked to. */
export async function toldTables(
  cluster: Cluster,
  namespace: string,
  makes: boolean,
): Promise<Readonly<Record<string, ToldTable>>> {
  const more = makes ? ['make'] : [];
  const output = await python(
    'test/clients/console_tables.py',
    cluster.catalogUrl,
    await cluster.token(),
    namespace,
    ...more,
  );
  return parseJson(output) as unknown as Readonly<Record<string, ToldTable>>;
}

/** The cells of the table in a region, row by row, and last the badges of each row. */
async function cells(page: Page, region: string): Promise<readonly (readonly string[])[]> {
  const rows = page.getByRole('region', { name: region, exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  const texts: string[][] = [];
  for (const row of await rows.all()) {
    const badges = await row.locator('.badge').allInnerTexts();
    texts.push([...(await row.locator('td').allInnerTexts()), badges.toSorted().join('\n')]);
  }
  return texts;
}

const changeOf = ({ added, deleted }: ToldSnapshot): string =>
  [added === null ? '' : `+${added}`, deleted === null ? '' : `−${deleted}`].join(' ').trim();

/** The pages of a table show what PyIceberg tells of it. */
export async function expectShown(
  { cluster, browser }: { readonly cluster: Cluster; readonly browser: Browser },
  namespace: string,
  [name, told]: readonly [string, ToldTable],
): Promise<void> {
  const at = (tab: string): string => `/console/catalog/lake/${namespace}/${encodeURIComponent(name)}?tab=${tab}`;
  const { page, faults } = await openConsole(cluster, browser, { path: at('Columns') });
  const glance = page.getByLabel('At a glance');
  await glance.getByText(`version ${told.format}`).waitFor();
  expect([
    name,
    await glance
      .getByText(/^Files/)
      .locator('..')
      .innerText(),
  ]).toEqual([name, `Files\n${told.files_by_summary ?? 'not told'}`]);
  const columns = (await cells(page, 'Columns')).map((row) => [row[0], row[1], row[2], row[5], row[6]]);
  expect([name, columns]).toEqual([name, told.columns]);

  await page.goto(`${cluster.queryUrl}${at('History')}`);
  const history = (await cells(page, 'Snapshots')).map(([, , operation, rows, , , , id = '', badges]) => [
    id,
    { operation, rows, badges },
  ]);
  const snapshots = Object.entries(told.snapshots).map(([id, one]) => {
    const badges = [...one.names, ...(one.current ? ['current'] : [])].toSorted().join('\n');
    return [id, { operation: one.operation, rows: changeOf(one), badges }];
  });
  expect([name, Object.fromEntries(history)]).toEqual([name, Object.fromEntries(snapshots)]);

  await page.goto(`${cluster.queryUrl}${at('Files')}`);
  const [data] = await cells(page, 'Files in all');
  expect([name, data?.slice(0, 3)]).toEqual([name, ['Data files', String(told.files), String(told.records)]]);
  if (told.partitions.length > 0) {
    const shown = (await cells(page, 'Partitions by size')).map((row) => row.slice(0, -3).join('|'));
    const wanted = told.partitions.map((row) => row.map((value) => String(value ?? 'NULL')).join('|'));
    expect([name, shown.toSorted()]).toEqual([name, wanted.toSorted()]);
  }

  await page.goto(`${cluster.queryUrl}${at('Rows')}`);
  const ids = (await cells(page, 'The first 100 rows')).map(([id]) => Number(id)).toSorted((a, b) => a - b);
  expect([name, ids]).toEqual([name, told.ids]);
  expect(faults).toEqual([]);
  await page.context().close();
}

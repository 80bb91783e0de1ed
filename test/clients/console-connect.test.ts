import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { projectRoot, run, type Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole } from '#test/support/console.ts';
import { pythonBin } from '#test/support/python.ts';

/** The lines that a table's page has to paste are pasted, and answer. Only ports are others here. */

let cluster: Cluster;
let browser: Browser;
const NAME = `it's a "t" $HOME \`x\` \\ 😀`;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  for (const sql of [
    'CREATE CATALOG console_connect',
    'CREATE SCHEMA console_connect.a',
    'CREATE SCHEMA console_connect."a.b"',
    `CREATE TABLE console_connect."a.b"."${NAME.replaceAll('"', '""')}" AS SELECT 4711 AS x`,
  ]) {
    const { status, body } = await cluster.query(sql);
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
  }
});

test('each client answers to its lines, with the token in the environment alone', { timeout: 600_000 }, async () => {
  const { page } = await openConsole(cluster, browser, {
    path: `/console/catalog/console_connect/a.b/${encodeURIComponent(NAME)}?tab=Connect`,
  });
  const token = await cluster.token();
  const linesOf = async (client: string): Promise<string> => {
    const section = page.getByRole('region', { name: client, exact: true });
    const lines = await section.locator('pre').innerText();
    expect(lines).not.toContain(token);
    await section.getByRole('button', { name: 'Copy', exact: true }).click();
    await section.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(lines);
    return lines
      .replace(/:8082\b/, `:${new URL(cluster.ready.flight_sql_url ?? '').port}`)
      .replace('-p 5433', `-p ${new URL(cluster.ready.postgres_url ?? '').port}`);
  };
  const shell = async (line: string): Promise<string> => {
    const skein = `skein() { node --disable-warning=ExperimentalWarning '${join(projectRoot, 'cli/skein.js')}' "$@"; }`;
    const env = { SKEIN_CLIENT_TOKEN: token };
    const { code, stdout, stderr } = await run('bash', ['-c', `${skein}\n${line}`], { env });
    return code === 0 ? stdout : `exit ${code}: ${stderr}`;
  };
  for (const client of ['skein sql', 'HTTP', 'psql']) {
    expect([client, await shell(await linesOf(client))]).toEqual([client, expect.stringContaining('4711')]);
  }
  for (const [client, environment] of [
    ['Python (Flight SQL)', 'flight'],
    ['PyIceberg', 'python'],
  ] as const) {
    const lines = await linesOf(client);
    const python = join(await pythonBin(environment), 'python');
    const { stdout, stderr } = await run(python, ['-c', lines], { env: { SKEIN_CLIENT_TOKEN: token } });
    expect([client, stdout, stderr]).toEqual([client, expect.stringContaining('4711'), expect.any(String)]);
  }
  await page.context().close();
});

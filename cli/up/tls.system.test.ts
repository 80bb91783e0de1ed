import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type StartedCluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient } from '#test/support/flight-client.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** `skein up --tls`, and the commands that talk to it. */
let cluster: StartedCluster;
let ca: Buffer;
beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 1, args: ['--tls'] });
  ca = readFileSync(must(cluster.ready.tls_ca, 'it has made an authority'));
});
afterAll(() => cluster?.stop());

const basic = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`;

test('the URLs are those of TLS, and the files lie in the data directory', () => {
  expect(cluster.ready.query_url).toMatch(/^https:/);
  expect(cluster.ready.flight_sql_url).toMatch(/^grpc\+tls:/);
  expect(cluster.ready.tls_ca).toBe(join(cluster.dataDir, 'tls', 'doors', 'ca.pem'));
});

test('both doors serve clients that trust the authority, and no others', async () => {
  const status = (trusted: object): Promise<unknown> =>
    new Promise((resolve) => {
      request(`${cluster.queryUrl}/health`, trusted, (answer) => resolve(answer.resume().statusCode))
        .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        .end();
    });
  expect([await status({ ca }), await status({})]).toEqual([200, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']);
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  using trusting = new FlightClient(url, basic, ca);
  expect((await trusting.query('SELECT 42 AS x')).numRows).toBe(1);
  using distrusting = new FlightClient(url, basic);
  expect((await failureOf(distrusting.query('SELECT 1'))).message).toMatch(/certificate/i);
});

test('the catalog and its pages come over TLS, by the names of the certificate alone', async () => {
  const { port } = new URL(cluster.catalogUrl);
  expect(cluster.catalogUrl).toBe(`https://127.0.0.1:${port}`);
  const page = (host: string): Promise<{ status: unknown; cookie: string; location: string | undefined }> =>
    new Promise((resolve, reject) => {
      request(
        { host: '127.0.0.1', servername: 'localhost', port, path: '/sign-in', ca, headers: { host } },
        (answer) => {
          const { 'set-cookie': cookies, location } = answer.resume().headers;
          resolve({ status: answer.statusCode, cookie: String(cookies), location });
        },
      )
        .once('error', reject)
        .end();
    });
  expect(await page(`localhost:${port}`)).toMatchObject({
    status: 200,
    cookie: expect.stringMatching(/^__Host-.*; Secure/) as string,
  });
  // An address has no passkeys: it leads to the name.
  expect(await page(`127.0.0.1:${port}`)).toMatchObject({ status: 307, location: `https://localhost:${port}/sign-in` });
  expect((await page(`rebound.example:${port}`)).status).toBe(403);
  await expect(fetch(`http://127.0.0.1:${port}/sign-in`)).rejects.toThrow();
  const login = ['login', '--url', cluster.catalogUrl, '--no-browser'];
  const described = await cluster.cli(login);
  expect(described.stderr).toMatch(/certificate|CERT|SIGNATURE/);
  const trusted = await cluster.cli([...login, '--tls-ca', must(cluster.ready.tls_ca, 'a file')]);
  expect(trusted.stderr).toContain(`https://localhost:${port}/oauth/authorize?`);
});

test('commands that find the cluster in its data directory come over TLS; one that is given a URL needs the authority', async () => {
  expect(await cluster.cliOk(['sql', '-e', 'SELECT 41 + 1 AS x', '--format', 'csv'])).toBe('x\n42\n');
  const states = (await cluster.services()).map(({ name, state }) => `${name} ${state}`);
  expect(states).toEqual(expect.arrayContaining(['coordinator up', 'catalog up', 'worker-1 up']));
  const remote = ['sql', '--url', cluster.queryUrl, '--token', await cluster.token(), '-e', 'SELECT 2 AS x'];
  expect((await cluster.cli(remote)).code).not.toBe(0);
  expect((await cluster.cli([...remote, '--tls-ca', must(cluster.ready.tls_ca, 'a file')])).code).toBe(0);
});

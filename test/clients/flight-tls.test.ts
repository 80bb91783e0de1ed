import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueServerCertificate, makeAuthority, type IssuedCertificate } from '#cli/certificate/make-certificate.ts';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { featuresOf, TLS } from '#test/support/feature-matrix.ts';
import { compileJava, FLIGHT_JDBC, java, mavenFile } from '#test/support/java.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { pythonIn } from '#test/support/python.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * The doors show a certificate; every client of Flight SQL decides by itself whether it takes it, and so does libpq of the Postgres wire with
 * `sslmode=verify-full`. The Rust client is not among them: the package of npm was built without any authority, and takes none.
 */
let ours: IssuedCertificate;
let others: IssuedCertificate;
let folder: string;
let cluster: StartedCluster;
let port: number;
let jdbc: string;

const CLIENTS = ['ADBC (Go)', 'pyarrow (C++)', 'JDBC (Java)'] as const;
const EVERY = [...CLIENTS, 'psql'] as const;
type Outcomes = Readonly<Record<(typeof EVERY)[number], string>>;
const path = (name: string): string => join(folder, name);
const HOSTS = ['localhost', '127.0.0.1'];

beforeAll(async () => {
  [ours, others] = await Promise.all([makeAuthority('ours', 2), makeAuthority('others', 2)]);
  folder = await mkdtemp(join(tmpdir(), 'skein-flight-tls-'));
  await writeFile(path('ours.pem'), ours.cert);
  await writeFile(path('others.pem'), others.cert);
  await install(await issueServerCertificate(ours, { hosts: HOSTS, days: 1 }));
  const env = settingsEnv({
    'coordinator.tls_cert': path('server.pem'),
    'coordinator.tls_key': path('server.key'),
    'cluster.reload_interval': '100ms',
  });
  cluster = await startOwnCluster({ workers: 1, env });
  port = Number(new URL(must(cluster.ready.flight_sql_url, 'it serves Flight SQL')).port);
  const jar = await mavenFile(FLIGHT_JDBC);
  jdbc = `${await compileJava('test/clients/FlightTls.java', jar)}:${jar}`;
}, 300_000);
afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function install({ cert, key }: IssuedCertificate): Promise<void> {
  await writeFile(path('server.key'), key);
  await writeFile(path('server.pem'), cert);
}

/** Installs a certificate while the doors are open, and waits until they show it. */
async function change(to: IssuedCertificate): Promise<void> {
  await install(to);
  await expect.poll(shown, { timeout: patience(10_000) }).toBe(to.cert.replaceAll('\r', '').trim());
}

const shown = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const base64 = socket.getPeerCertificate().raw.toString('base64');
      socket.destroy();
      const lines = base64.match(/.{1,64}/g) ?? [];
      resolve(['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n'));
    }).once('error', reject);
  });

/** The answer of each client that trusts the authorities of this file; `-`: those of the machine alone. */
async function outcomes(authority: string): Promise<Outcomes> {
  const trust = authority === '-' ? '-' : path(authority);
  const signIn = [cluster.ready.user, ADMIN_PASSWORD];
  const python = await pythonIn(
    'flight',
    'test/clients/flight_tls.py',
    `grpc+tls://localhost:${port}`,
    ...signIn,
    trust,
  );
  const { stdout } = await java(jdbc, {}, ['FlightTls', `localhost:${port}`, ...signIn, trust]);
  return { ...(JSON.parse(python) as Outcomes), 'JDBC (Java)': stdout.trim(), psql: await overPsql(trust) };
}

async function overPsql(trust: string): Promise<string> {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.hostname, url.username, url.password, url.pathname] = ['localhost', cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  url.search = new URLSearchParams({ sslmode: 'verify-full', sslrootcert: trust }).toString();
  return postgresProgram('psql', ['-X', '-A', '-t', '-c', "SELECT 'ok'", url.href]).then(
    (out) => out.trim(),
    (error: unknown) => String(error),
  );
}

const ALL = Object.fromEntries(EVERY.map((client) => [client, 'ok']));
const accepted = async (authority: string): Promise<void> => expect(await outcomes(authority)).toEqual(ALL);
async function refused(authority: string): Promise<void> {
  const said = await outcomes(authority);
  expect(EVERY.filter((client) => said[client] === 'ok')).toEqual([]);
}

test('every client signs in with the right authority, and none with another or without one', async () => {
  expect(CLIENTS.filter((client) => featuresOf(client).includes(TLS))).toEqual([...CLIENTS]);
  await accepted('ours.pem');
  await refused('others.pem');
  await refused('-');
}, 300_000);

test('none takes a certificate of another name', async () => {
  await change(await issueServerCertificate(ours, { hosts: ['db.example.com'], days: 1 }));
  await refused('ours.pem');
}, 300_000);

test('the certificate is changed while it runs: the new authority is needed, the old is not enough', async () => {
  await change(await issueServerCertificate(others, { hosts: HOSTS, days: 1 }));
  await accepted('others.pem');
  await refused('ours.pem');
}, 300_000);

test('none takes a certificate whose time is over', async () => {
  await change(await issueServerCertificate(ours, { hosts: HOSTS, days: 5 / 86_400 }));
  await sleep(6_000);
  await refused('ours.pem');
}, 300_000);

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { issueServerCertificate, makeAuthority } from '#cli/certificate/make-certificate.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { patience } from '#test/support/run/slowness.ts';
import { mavenFile } from './java.ts';
import { freePort } from './postgres.ts';

/** Keycloak's server (Apache 2.0) with one realm, over https, a process of its own beside the tests. */
const VERSION = '26.7.3';
const START_TIMEOUT_MS = patience(300_000);
/** Time that a suite allows for fetching the server and starting it. */
export const KEYCLOAK_MS = 900_000;

export const KEYCLOAK_CLIENT = { clientId: 'skein', clientSecret: 'the secret of skein at keycloak' } as const;
/** A job that signs in by itself, for a token of Skein's audience. */
export const KEYCLOAK_JOB = { clientId: 'nightly', clientSecret: 'the secret of the job' } as const;
/** Somebody in the group `analysts`. */
export const KEYCLOAK_PERSON = { name: 'bea', password: 'Correct-Horse-9', email: 'bea@example.com' } as const;

export type Keycloak = AsyncDisposable & {
  /** `https://127.0.0.1:port/realms/skein` */
  readonly issuer: string;
  readonly settings: Pick<Config, 'webhook.ca_file' | 'webhook.allowed_networks'>;
  /** The access token of the job. */
  jobToken(): Promise<string>;
};

/** @param redirect the address to which browsers are sent back */
export async function startKeycloak(redirect: string): Promise<Keycloak> {
  const archive = await mavenFile(`org.keycloak:keycloak-quarkus-dist:${VERSION}:tar.gz`);
  const folder = await mkdtemp(join(tmpdir(), 'skein-keycloak-'));
  await promisify(execFile)('tar', ['-xzf', archive, '-C', folder]);
  const home = join(folder, `keycloak-${VERSION}`);
  const authority = await makeAuthority('issuers', 2);
  const { cert, key } = await issueServerCertificate(authority, { hosts: ['127.0.0.1', 'localhost'], days: 2 });
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const [caFile, certFile] = [await file('ca.pem', authority.cert), await file('cert.pem', cert)];
  const keyFile = await file('key.pem', key);
  await mkdir(join(home, 'data/import'), { recursive: true });
  await writeFile(join(home, 'data/import/skein-realm.json'), JSON.stringify(realmOf(redirect)));
  const [port, plainPort, managementPort] = [await freePort(), await freePort(), await freePort()];
  const address = `https://127.0.0.1:${port}`;
  const child = spawn(
    join(home, 'bin', 'kc.sh'),
    [
      'start-dev',
      '--import-realm',
      `--https-port=${port}`,
      `--http-port=${plainPort}`,
      `--http-management-port=${managementPort}`,
      '--http-host=127.0.0.1',
      `--https-certificate-file=${certFile}`,
      `--https-certificate-key-file=${keyFile}`,
      `--hostname=${address}`,
    ],
    // A group of its own: the script starts Java as another process.
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, JAVA_OPTS_KC_HEAP: '-Xms128m -Xmx768m' },
    },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (log += text.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const closed = once(child, 'close');
      process.kill(-child.pid, 'SIGKILL');
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const issuer = `${address}/realms/skein`;
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const answer = await send(`${issuer}/.well-known/openid-configuration`, authority.cert).catch(() => undefined);
    if (answer?.status === 200) break;
    if (performance.now() > endMs || child.exitCode !== null) {
      await stop();
      throw new Error(`Keycloak does not start: ${log.slice(-3_000)}`);
    }
    await sleep(500);
  }
  return {
    issuer,
    settings: { 'webhook.ca_file': caFile, 'webhook.allowed_networks': ['127.0.0.1'] },
    async jobToken() {
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: KEYCLOAK_JOB.clientId,
        client_secret: KEYCLOAK_JOB.clientSecret,
      }).toString();
      const { body } = await send(`${issuer}/protocol/openid-connect/token`, authority.cert, form);
      return (JSON.parse(body) as { readonly access_token: string }).access_token;
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** As an administrator of Keycloak sets it up by the steps of `docs/identity.md`. */
const realmOf = (redirect: string): object => ({
  realm: 'skein',
  enabled: true,
  groups: [{ name: 'analysts' }],
  clients: [
    {
      clientId: KEYCLOAK_CLIENT.clientId,
      secret: KEYCLOAK_CLIENT.clientSecret,
      redirectUris: [redirect],
      standardFlowEnabled: true,
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
    },
    {
      clientId: KEYCLOAK_JOB.clientId,
      secret: KEYCLOAK_JOB.clientSecret,
      standardFlowEnabled: false,
      serviceAccountsEnabled: true,
      protocolMappers: [
        {
          name: 'audience',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-audience-mapper',
          config: { 'included.custom.audience': 'skein:default', 'access.token.claim': 'true' },
        },
      ],
    },
  ],
  users: [
    {
      username: KEYCLOAK_PERSON.name,
      email: KEYCLOAK_PERSON.email,
      emailVerified: true,
      firstName: 'Bea',
      lastName: 'Example',
      enabled: true,
      credentials: [{ type: 'password', value: KEYCLOAK_PERSON.password, temporary: false }],
      groups: ['/analysts'],
    },
  ],
});

/** Sends a request over https, a POST where there is a form. */
const send = (url: string, ca: string, form?: string): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const head =
      form === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const outgoing = request(url, { ...head, ca }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    outgoing.once('error', reject).end(form);
  });

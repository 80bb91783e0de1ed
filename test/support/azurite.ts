import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeSas } from '#shared/storage/adls/sas.ts';
import { sendRequest } from '#shared/storage/object/send-request.ts';
import type { AdlsCredential } from '#shared/storage/credential.ts';
import { npmFolder } from './npm-folder.ts';
import { TestCertificates } from './certificates.ts';
import { freePort } from './postgres.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Azurite (MIT), Microsoft's emulator of Azure's storage, a process of its own; it is too large for a dependency. */
const VERSION = '3.37.0';
const START_TIMEOUT_MS = patience(60_000);

/** The emulator's account and its key, which everybody knows. */
export const AZURITE_ACCOUNT = 'devstoreaccount1';
export const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export type Azurite = AsyncDisposable & {
  /** `https://localhost:port` */
  readonly endpoint: string;
  /** The authority of its certificate: processes that call it have it in `NODE_EXTRA_CA_CERTS`. */
  readonly caFile: string;
  makeContainer(name: string): Promise<void>;
  /**
   * Stops the process, so that nothing is answered until `resume`. It writes its index down now and then: one that is killed forgets objects
   * whose requests it has answered, as no store does, and one that is asked to end waits for its clients.
   */
  pause(): void;
  resume(): void;
  /** A signature for a whole container by the account's key. */
  credential(container: string, permissions?: string): AdlsCredential;
};

/** The emulator over a folder of its own, with the container `warehouse`. It asks for TLS and for tokens of users as Azure does. */
export async function startAzurite(): Promise<Azurite> {
  const modules = await npmFolder('azurite', [`azurite@${VERSION}`]);
  const module = join(modules, 'azurite/dist/src/blob/main.js');
  const certificates = await TestCertificates.make();
  const folder = await mkdtemp(join(tmpdir(), 'skein-azurite-'));
  const tls = await certificates.issue('azurite', ['worker'], ['localhost', '127.0.0.1']);
  const port = await freePort();
  const place = ['--blobHost', '127.0.0.1', '--blobPort', String(port), '--location', folder];
  const safety = ['--cert', tls['cluster.tls_cert'], '--key', tls['cluster.tls_key'], '--oauth', 'basic'];
  const caFile = tls['cluster.tls_ca'];
  const child = spawn(process.execPath, [module, ...place, ...safety, '--silent', '--skipApiVersionCheck'], {
    stdio: 'ignore',
    // It calls itself for copies.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
  });
  const endpoint = `https://localhost:${port}`;
  const credential = (container: string, permissions = 'racwdl'): AdlsCredential => ({
    kind: 'adls',
    sas: makeSas(
      { kind: 'account', key: AZURITE_KEY },
      {
        account: AZURITE_ACCOUNT,
        container,
        resource: 'container',
        path: '',
        permissions,
        isPlain: false,
        startsAtMs: Date.now() - 60_000,
        expiresAtMs: Date.now() + 86_400_000,
      },
    ),
    expiresAtMs: null,
    endpoint,
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
    await certificates[Symbol.asyncDispose]();
  };
  try {
    setDefaultCACertificates([...getCACertificates('default'), await readFile(caFile, 'utf8')]);
    await makeContainer(endpoint, 'warehouse', performance.now() + START_TIMEOUT_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  const make = (name: string): Promise<void> => makeContainer(endpoint, name, performance.now());
  return {
    endpoint,
    caFile,
    credential,
    makeContainer: make,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    [Symbol.asyncDispose]: stop,
  };
}

/** Makes a container by a request with the account's key, which no signature can; again until the server is there. */
async function makeContainer(endpoint: string, name: string, endMs: number): Promise<void> {
  for (;;) {
    const headers = { 'x-ms-date': new Date().toUTCString(), 'x-ms-version': '2022-11-02' };
    const named = Object.entries(headers).map(([header, value]) => `${header}:${value}\n`);
    const path = `/${AZURITE_ACCOUNT}/${name}`;
    const signed = `PUT${'\n'.repeat(12)}${named.join('')}/${AZURITE_ACCOUNT}${path}\nrestype:container`;
    const signature = createHmac('sha256', Buffer.from(AZURITE_KEY, 'base64')).update(signed).digest('base64');
    try {
      const answer = await sendRequest({
        url: new URL(endpoint),
        method: 'PUT',
        path: `${path}?restype=container`,
        headers: { ...headers, authorization: `SharedKey ${AZURITE_ACCOUNT}:${signature}`, 'content-length': '0' },
        bytesMax: 65_536,
      });
      if (answer.status === 201) return;
      throw new Error(`no container ${name}: ${answer.status} ${answer.body.toString()}`);
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(100);
    }
  }
}

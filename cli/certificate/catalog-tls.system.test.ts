import { request } from 'node:https';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { doorFiles, ensureDoorCertificate } from './door-certificate.ts';

/** The catalog with a certificate of its own. */
let catalog: TestCatalog;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skein-pages-'));
  await ensureDoorCertificate(folder, ['localhost', 'catalog.example.com', '127.0.0.1']);
  const { cert, key } = doorFiles(folder);
  catalog = await startTestCatalog({ 'catalog.tls_cert': cert, 'catalog.tls_key': key });
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type Seen = {
  readonly location?: string | undefined;
  readonly status: number | undefined;
  readonly cookie: string;
  readonly text: string;
};
const see = (path: string, host: string): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const url = new URL(path, catalog.running.url);
    request(url, { headers: { host }, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.once('end', () =>
        resolve({
          status: answer.statusCode,
          cookie: String(answer.headers['set-cookie']),
          location: answer.headers.location,
          text,
        }),
      );
    })
      .once('error', reject)
      .end();
  });

test('the pages come over TLS by the names of the certificate alone, also beyond this machine, with cookies for it', async () => {
  const { port, protocol } = new URL(catalog.running.url);
  expect(protocol).toBe('https:');
  for (const host of ['localhost', 'catalog.example.com']) {
    const { status, cookie } = await see('/sign-in', `${host}:${port}`);
    expect([host, status, cookie]).toEqual([host, 200, expect.stringMatching(/^__Host-.*; Secure/)]);
  }
  // An address has no passkeys: it leads to the name.
  expect(await see('/sign-in', `127.0.0.1:${port}`)).toMatchObject({
    status: 307,
    location: `https://localhost:${port}/sign-in`,
  });
  for (const host of ['rebound.example', '10.0.0.5', 'x@localhost']) {
    expect((await see('/sign-in', `${host}:${port}`)).status).not.toBe(200);
  }
  await expect(fetch(`http://127.0.0.1:${port}/sign-in`)).rejects.toThrow();
});

test('REST and the description of the sign-in are served there, too', async () => {
  const { port } = new URL(catalog.running.url);
  expect((await see('/v1/config', `localhost:${port}`)).status).toBe(200);
  const { text } = await see('/.well-known/oauth-authorization-server', `localhost:${port}`);
  expect(JSON.parse(text)).toMatchObject({ issuer: `https://localhost:${port}` });
});

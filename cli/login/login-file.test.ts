import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLogins, writeLogins, type Login } from './login-file.ts';

const LOGIN: Login = {
  query_url: 'http://localhost:8080',
  catalog_url: 'http://localhost:8181',
  token_endpoint: 'http://localhost:8181/v1/oauth/tokens',
  revocation_endpoint: 'http://localhost:8181/oauth/revoke',
  tenant: 'default',
  user: 'ann',
  access_token: 'a',
  expires_at: '2026-01-01T00:00:00.000Z',
  refresh_token: 'r',
};
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-login-file-'));
  file = join(folder, 'login.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('what was written is read', () => {
  const logins = [LOGIN, { ...LOGIN, query_url: '' }];
  writeLogins(file, logins);
  expect(readLogins(file)).toEqual(logins);
});

const BROKEN = [
  null,
  7,
  {},
  { ...LOGIN, user: null },
  { ...LOGIN, query_url: 'x' },
  { ...LOGIN, token_endpoint: '' },
  { ...LOGIN, expires_at: 'x' },
];

test.each(['', 'null', '[]', '{"logins":{}}', ...BROKEN.map((login) => JSON.stringify({ logins: [LOGIN, login] }))])(
  'a file that no skein login has written is told: %s',
  (text) => {
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readLogins(file)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }));
  },
);

test('a file that cannot be read is told', () => {
  mkdirSync(file, { mode: 0o700 });
  expect(() => readLogins(file)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIGURATION', message: `${file} cannot be read: EISDIR` }),
  );
  chmodSync(file, 0o755);
  expect(() => readLogins(file)).toThrow(/chmod 600/);
});

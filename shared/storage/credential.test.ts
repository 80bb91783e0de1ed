import { expect, test } from 'vitest';
import { fileCredential, sameCredential, type S3Credential } from './credential.ts';

const key: S3Credential = {
  kind: 's3',
  accessKeyId: 'a',
  secretAccessKey: 's',
  sessionToken: 't',
  expiresAtMs: 1,
  region: 'r',
  endpoint: null,
  pathStyle: false,
};

test('local files need no credential, and nothing else goes without one', () => {
  expect(fileCredential('/w')).toEqual({ kind: 'none' });
  expect(fileCredential('file:/w')).toEqual({ kind: 'none' });
  expect(() => fileCredential('s3://bucket/w')).toThrow('not a local location: s3://bucket/w');
});

test('a credential is the same only when every part is', () => {
  const none = fileCredential('/w');
  expect(sameCredential(none, none)).toBe(true);
  expect(sameCredential(key, { ...key })).toBe(true);
  expect(sameCredential(none, key)).toBe(false);
  expect(sameCredential(key, none)).toBe(false);
  const others: readonly Partial<S3Credential>[] = [
    { accessKeyId: 'b' },
    { secretAccessKey: 'b' },
    { sessionToken: null },
    { expiresAtMs: 2 },
    { region: 'b' },
    { endpoint: 'http://b' },
    { pathStyle: true },
  ];
  for (const other of others) expect(sameCredential(key, { ...key, ...other })).toBe(false);
});

import { expect, test } from 'vitest';
import { credentialId, fileCredential, type S3Credential } from './credential.ts';

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

test('local files have the roots of their catalog, and nothing else goes without a key', () => {
  expect(fileCredential('/w')).toEqual({ kind: 'file', roots: ['file:///w'] });
  expect(fileCredential('file:/w', '/v/')).toEqual({ kind: 'file', roots: ['file:///w', 'file:///v'] });
  expect(() => fileCredential('s3://bucket/w')).toThrow('not a local location: s3://bucket/w');
});

test('the id of a credential is another one when any part is, and tells none', () => {
  const ids = new Set([fileCredential('/w'), fileCredential('/v'), key].map(credentialId));
  expect(credentialId({ ...key })).toBe(credentialId(key));
  const others: readonly Partial<S3Credential>[] = [
    { accessKeyId: 'b' },
    { secretAccessKey: 'b' },
    { sessionToken: null },
    { expiresAtMs: 2 },
    { region: 'b' },
    { endpoint: 'http://b' },
    { pathStyle: true },
  ];
  for (const other of others) ids.add(credentialId({ ...key, ...other }));
  expect(ids.size).toBe(10);
  expect(credentialId({ ...key, secretAccessKey: 'very-secret' })).not.toContain('very-secret');
});

import { expect, test } from 'vitest';
import { readStorageProfiles } from './storage-profiles.ts';

test('profiles have the fields of the flags, as YAML or JSON', () => {
  const yaml = `
lake:
  storage: s3://bucket/lake
  endpoint: https://s3.example.com
  internal_endpoint: http://10.0.0.7:9000
  path_style: true
  flavor: minio
  credentials: /etc/skein/key.yaml
  engine_credentials: /etc/skein/engines.yaml
  tenants: [acme, harbour]
own:
  storage: s3://other
  region: eu-central-1
`;
  expect([...readStorageProfiles(yaml)]).toEqual([
    [
      'lake',
      {
        storage: 's3://bucket/lake',
        credentials: '/etc/skein/key.yaml',
        engineCredentials: '/etc/skein/engines.yaml',
        tenants: ['acme', 'harbour'],
        settings: {
          endpoint: 'https://s3.example.com',
          'internal-endpoint': 'http://10.0.0.7:9000',
          'path-style': 'true',
          flavor: 'minio',
        },
      },
    ],
    ['own', { storage: 's3://other', settings: { region: 'eu-central-1' } }],
  ]);
  expect([...readStorageProfiles('{"own": {"storage": "s3://other"}}').keys()]).toEqual(['own']);
  expect(readStorageProfiles('').size).toBe(0);
});

test.each([
  ['a list', '[]'],
  ['no YAML', '{'],
  ['a name that is a path', '{"../x": {"storage": "s3://b"}}'],
  ['no storage', '{"a": {"region": "x"}}'],
  ['storage elsewhere', '{"a": {"storage": "/tmp/x"}}'],
  ['a secret in it', '{"a": {"storage": "s3://b", "secret_access_key": "x"}}'],
  ['a file that depends on the working directory', '{"a": {"storage": "s3://b", "credentials": "key.yaml"}}'],
  ['a list as a setting', '{"a": {"storage": "s3://b", "region": ["x"]}}'],
  ['no tenants', '{"a": {"storage": "s3://b", "tenants": [""]}}'],
])('%s is refused', (_, text) => {
  expect(() => readStorageProfiles(text)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }) as Error);
});

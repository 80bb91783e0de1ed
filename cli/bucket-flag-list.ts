import type { Flag } from './command.ts';

/** The flags that say how a bucket is reached (`bucket-flags.ts` reads them). */
export const BUCKET_FLAGS: readonly Flag[] = [
  { name: 'region', value: 'R', doc: 'Region of the bucket of S3' },
  {
    name: 'endpoint',
    value: 'URL',
    doc: 'Address of the store that clients are told (default: that of AWS, Google or the account)',
  },
  { name: 'internal-endpoint', value: 'URL', doc: 'Address that Skein calls (default: the endpoint)' },
  {
    name: 'sts-endpoint',
    value: 'URL',
    doc: 'Where temporary keys or tokens come from (default: the endpoint, or that of AWS, Google or Microsoft)',
  },
  { name: 'path-style', doc: 'The bucket is in the path of URLs, not in the host (default with flavor minio)' },
  { name: 'no-path-style', doc: 'The bucket is in the host, also with flavor minio' },
  { name: 'role-arn', value: 'ARN', doc: 'Role that temporary keys have' },
  { name: 'external-id', value: 'X', doc: 'External id of the role' },
  { name: 'flavor', value: 'F', doc: 'aws, minio or compatible (default: compatible with an endpoint, else aws)' },
  { name: 'hierarchical', doc: 'The account of Azure has folders: a signature can open one table' },
  { name: 'no-hierarchical', doc: 'It has none' },
  {
    name: 'allow-container-sas',
    doc: 'Without folders clients get signatures for the whole container of Azure, which opens more than their table',
  },
  { name: 'no-allow-container-sas', doc: 'They get none' },
  {
    name: 'credentials',
    value: 'FILE',
    doc: 'YAML or JSON: access_key_id, secret_access_key, session_token; Google’s file of a service account; account_key, or tenant_id, client_id, client_secret',
  },
  {
    name: 'engine-credentials',
    value: 'FILE',
    doc: 'A second key, which you have limited, for readers and writers where the store gives no temporary keys',
  },
];

export const UP_STORAGE_FLAG: Flag = {
  name: 'storage',
  value: 'URI',
  doc: 's3://bucket/prefix, gs://bucket/prefix or abfss://container@account.dfs.core.windows.net/prefix of the first catalog, at first start (default: a local folder)',
  key: 'bootstrap.warehouse',
};

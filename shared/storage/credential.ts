import { hash } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { normalizeLocation } from './location.ts';

/**
 * The right by which a process accesses a storage. It travels in scans, sinks and tickets as JSON. The owner of a table's catalog gives
 * it (`LoadTables`); no reader or writer makes one up.
 */
export type StorageCredential = FileCredential | StoreCredential;

/** A key for a bucket. Each kind of store has its own; all have an end, and folders by which another one is asked for. */
export type StoreCredential = S3Credential | GcsCredential | AdlsCredential;

/** For `file:` locations below some roots: the file system decides by the account of the process, and no symbolic link is followed. */
type FileCredential = { readonly kind: 'file'; readonly roots: readonly string[] };

/** A key for a bucket, or for some folders of it, and how the bucket is reached. */
export type S3Credential = {
  readonly kind: 's3';
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Goes with a temporary key. */
  readonly sessionToken: string | null;
  /** When the key ends; null = it does not end by itself. */
  readonly expiresAtMs: number | null;
  readonly region: string;
  /** The address that Skein calls; null = that of AWS for the region. */
  readonly endpoint: string | null;
  /** The bucket is the first part of the path, not of the host's name. */
  readonly pathStyle: boolean;
  /** The folders that the key opens: another one like it is asked for by these. Absent = it is not renewed. */
  readonly reach?: KeyReach;
};

/** A token for a bucket of Google Cloud Storage, or for some folders of it. */
export type GcsCredential = {
  readonly kind: 'gcs';
  readonly token: string;
  readonly expiresAtMs: number | null;
  /** The address that Skein calls; null = Google's. */
  readonly endpoint: string | null;
  readonly reach?: KeyReach;
};

/** A shared access signature for a container of Azure's storage, or for a directory or an object of it. */
export type AdlsCredential = {
  readonly kind: 'adls';
  /** The parameters of a query. */
  readonly sas: string;
  readonly expiresAtMs: number | null;
  /** The address of the account that Skein calls; null = that of its name. */
  readonly endpoint: string | null;
  readonly reach?: KeyReach;
};

/** The folders below which a key reads, or also writes. */
type KeyReach = { readonly folders: readonly string[]; readonly writes: boolean };

/** The credential of `file:` locations below some roots. @throws NOT_SUPPORTED when one of the roots is no `file:` location */
export function fileCredential(...roots: readonly string[]): StorageCredential {
  const normal = roots.map(normalizeLocation);
  const other = normal.find((root) => !root.startsWith('file:'));
  if (other !== undefined) throw new SkeinError('NOT_SUPPORTED', `not a local location: ${other}`);
  return { kind: 'file', roots: normal };
}

/** A location below which its bearer may read, and which credential it uses there: a ticket tells no secret. */
export type StorageGrant = { readonly location: string; readonly credentialId: string };

/** Says which key of a store it is, and tells nothing of it. */
export const storeKeyId = (credential: StoreCredential): string => {
  if (credential.kind === 's3') return credential.accessKeyId;
  return hash('sha256', credential.kind === 'gcs' ? credential.token : credential.sas, 'base64url');
};

/** Says which credential it is. */
export const credentialId = (credential: StorageCredential): string =>
  credential.kind === 'file'
    ? hash('sha256', JSON.stringify(['file', ...credential.roots]), 'base64url')
    : hash('sha256', JSON.stringify(fieldsOf(credential)), 'base64url');

function fieldsOf(credential: StoreCredential): readonly unknown[] {
  switch (credential.kind) {
    case 's3':
      return S3_FIELDS.map((field) => credential[field]);
    case 'gcs':
      return GCS_FIELDS.map((field) => credential[field]);
    case 'adls':
      return ADLS_FIELDS.map((field) => credential[field]);
    default:
      return unreachable(credential);
  }
}

const GCS_FIELDS = Object.keys({
  kind: true,
  token: true,
  expiresAtMs: true,
  endpoint: true,
  reach: true,
} satisfies Readonly<Record<keyof GcsCredential, true>>) as readonly (keyof GcsCredential)[];

const ADLS_FIELDS = Object.keys({
  kind: true,
  sas: true,
  expiresAtMs: true,
  endpoint: true,
  reach: true,
} satisfies Readonly<Record<keyof AdlsCredential, true>>) as readonly (keyof AdlsCredential)[];

const S3_FIELDS = Object.keys({
  kind: true,
  accessKeyId: true,
  secretAccessKey: true,
  sessionToken: true,
  expiresAtMs: true,
  region: true,
  endpoint: true,
  pathStyle: true,
  reach: true,
} satisfies Readonly<Record<keyof S3Credential, true>>) as readonly (keyof S3Credential)[];

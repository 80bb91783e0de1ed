import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { SkeinError } from '#shared/error.ts';

/** A long-lived key of a store of S3. */
export type AccessKey = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
};

/** A service account of Google. */
export type ServiceAccount = {
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: string;
  readonly privateKeyId: string | null;
  readonly projectId: string | null;
  /** Where it gets tokens. */
  readonly tokenUri: string;
};

/** The key of an account of Azure's storage, in base64. */
type AzureAccountKey = { readonly accountKey: string };

/** An application of Azure's directory. */
export type AzureClient = { readonly tenantId: string; readonly clientId: string; readonly clientSecret: string };

export type KeyOfFile =
  | ({ readonly kind: 's3' } & AccessKey)
  | ({ readonly kind: 'gcs' } & ServiceAccount)
  | ({ readonly kind: 'adls' } & (AzureAccountKey | AzureClient));

/** A file of keys is smaller. */
const FILE_BYTES_MAX = 65_536;
const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token';
const S3_MEMBERS = ['access_key_id', 'secret_access_key', 'session_token'];
const CLIENT_MEMBERS = ['tenant_id', 'client_id', 'client_secret'];

/**
 * Reads a file of keys, as YAML or JSON: `access_key_id`, `secret_access_key` and perhaps `session_token`; Google's file of a service account;
 * `account_key`; or `tenant_id`, `client_id` and `client_secret`. Its members say which it is.
 * @throws INVALID_REQUEST without the file's name and without anything of its text
 */
export function readKeyFile(file: string): KeyOfFile {
  let value: unknown;
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > FILE_BYTES_MAX) throw new Error('it is too large');
    value = parse(text);
  } catch (error) {
    throw invalid((error as NodeJS.ErrnoException).code ?? 'it is neither YAML nor JSON');
  }
  if (typeof value !== 'object' || value === null) throw invalid(`expected ${S3_MEMBERS.join(', ')}`);
  const members = new Map<string, unknown>(Object.entries(value));
  if (members.has('type') || members.has('private_key')) return { kind: 'gcs', ...serviceAccountOf(members) };
  if (members.has('account_key')) return { kind: 'adls', ...accountKeyOf(members) };
  if (CLIENT_MEMBERS.some((name) => members.has(name))) return { kind: 'adls', ...azureClientOf(members) };
  const [accessKeyId, secretAccessKey, sessionToken] = textsOf(members, S3_MEMBERS, S3_MEMBERS.slice(0, 2));
  return { kind: 's3', accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null } as { kind: 's3' } & AccessKey;
}

type Members = ReadonlyMap<string, unknown>;

/** The texts of some members, and no other member. @throws INVALID_REQUEST */
function textsOf(members: Members, names: readonly string[], needed = names): readonly (string | undefined)[] {
  const isKnown = ([name, text]: [string, unknown]): boolean => names.includes(name) && typeof text === 'string';
  if (![...members].every(isKnown) || needed.some((name) => !members.has(name))) {
    throw invalid(`expected ${names.join(', ')}, each a text`);
  }
  return names.map((name) => members.get(name) as string | undefined);
}

function serviceAccountOf(members: Members): ServiceAccount {
  const text = (name: string): string | null => {
    const value = members.get(name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const no = (why: string): SkeinError => invalid(`it is no service account’s file of Google: ${why}`);
  if (members.get('type') !== 'service_account') throw no('its type is not service_account');
  const [clientEmail, privateKey] = [text('client_email'), text('private_key')];
  if (clientEmail === null || !/^[^\s@]{1,200}@[^\s@]{1,200}$/.test(clientEmail)) throw no('it has no client_email');
  if (privateKey === null || !isRsaKey(privateKey)) throw no('its private_key is no RSA key');
  const tokenUri = text('token_uri') ?? GOOGLE_TOKENS;
  if (!URL.canParse(tokenUri) || !/^https?:$/.test(new URL(tokenUri).protocol)) throw no('its token_uri is no address');
  return { clientEmail, privateKey, privateKeyId: text('private_key_id'), projectId: text('project_id'), tokenUri };
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function accountKeyOf(members: Members): AzureAccountKey {
  const [accountKey = ''] = textsOf(members, ['account_key']);
  // Azure's keys have 64 bytes.
  if (!/^[A-Za-z0-9+/]{20,200}={0,2}$/.test(accountKey)) throw invalid('account_key is not in base64');
  return { accountKey };
}

function azureClientOf(members: Members): AzureClient {
  const [tenantId = '', clientId = '', clientSecret = ''] = textsOf(members, CLIENT_MEMBERS);
  // They become part of an address.
  if (!/^[A-Za-z0-9.-]{1,200}$/.test(tenantId)) throw invalid('tenant_id is no id or domain of a directory');
  if (!/^[A-Za-z0-9-]{1,100}$/.test(clientId)) throw invalid('client_id is no id of an application');
  if (clientSecret === '') throw invalid('client_secret is empty');
  return { tenantId, clientId, clientSecret };
}

/** A key that has come from elsewhere as JSON, checked as one of a file. @throws INVALID_REQUEST */
export function keyOfDocument(document: string): KeyOfFile {
  const key = JSON.parse(document) as Partial<Record<string, unknown>>;
  const member = (name: string, of: string): readonly [string, unknown][] =>
    key[of] === undefined || key[of] === null ? [] : [[name, key[of]]];
  switch (key['kind']) {
    case 'gcs':
      return {
        kind: 'gcs',
        ...serviceAccountOf(
          new Map([
            ['type', 'service_account'],
            ...member('client_email', 'clientEmail'),
            ...member('private_key', 'privateKey'),
            ...member('private_key_id', 'privateKeyId'),
            ...member('project_id', 'projectId'),
            ...member('token_uri', 'tokenUri'),
          ]),
        ),
      };
    case 'adls': {
      if (key['accountKey'] !== undefined) {
        return { kind: 'adls', ...accountKeyOf(new Map(member('account_key', 'accountKey'))) };
      }
      const client = [
        ...member('tenant_id', 'tenantId'),
        ...member('client_id', 'clientId'),
        ...member('client_secret', 'clientSecret'),
      ];
      return { kind: 'adls', ...azureClientOf(new Map(client)) };
    }
    default:
      throw invalid('the key is of no store that is known');
  }
}

const invalid = (why: string): SkeinError => new SkeinError('INVALID_REQUEST', why);

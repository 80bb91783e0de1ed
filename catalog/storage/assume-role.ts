import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import { s3Error } from '#shared/storage/s3/s3-error.ts';
import { sendSigned } from '#shared/storage/s3/signed-request.ts';
import type { AccessKey } from '#shared/storage/key-file.ts';
import type { S3Settings } from '../metadata/s3-settings.ts';

/** A key that ends by itself. */
export type TemporaryKey = AccessKey & { readonly expiresAtMs: number };

type Session = {
  /** At most 64 characters, for the store's own records. */
  readonly name: string;
  readonly policy: string;
  readonly lifeSeconds: number;
};

const SENDS_MAX = 4;
const WAIT_MS = 100;
const ANSWER_BYTES_MAX = 65_536;

/** Asks STS for a key that a policy limits. @throws STORAGE_ERROR */
export async function assumeRole(
  key: AccessKey,
  settings: S3Settings,
  { name, policy, lifeSeconds }: Session,
): Promise<TemporaryKey> {
  const { region, roleArn, externalId } = settings;
  const parameters = {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    // MinIO asks for one, and takes any.
    RoleArn: roleArn ?? 'arn:minio:iam:::role/skein',
    RoleSessionName: name.replaceAll(/[^\w+=,.@-]/g, '-').slice(0, 64),
    DurationSeconds: String(lifeSeconds),
    Policy: policy,
    ...(externalId === null ? {} : { ExternalId: externalId }),
  };
  const body = Object.entries(parameters).map(([field, value]) => `${field}=${escapeUri(value)}`);
  const request = {
    service: 'sts',
    method: 'POST',
    endpoint: stsAddress(settings),
    path: '/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(body.join('&')),
    answerBytesMax: ANSWER_BYTES_MAX,
  } as const;
  for (let sent = 1; ; sent++) {
    try {
      const answer = await sendSigned({ ...key, region }, request);
      if (answer.status === 200) return readKey(answer.body);
      throw s3Error(answer);
    } catch (cause) {
      const isFinal = cause instanceof StoreError && cause.status < 500 && cause.status !== 429;
      if (isFinal || sent >= SENDS_MAX) {
        const why = cause instanceof StoreError ? `: ${cause.message}` : '';
        throw new SkeinError('STORAGE_ERROR', `the store gives no temporary key${why}`, { cause });
      }
    }
    await sleep(WAIT_MS * 2 ** (sent - 1) * (0.5 + Math.random() / 2));
  }
}

function readKey(body: Buffer): TemporaryKey {
  const at = (name: string): string | undefined =>
    textAt(readXml(body), 'AssumeRoleResponse', 'AssumeRoleResult', 'Credentials', name);
  const [accessKeyId, secretAccessKey, sessionToken] = [at('AccessKeyId'), at('SecretAccessKey'), at('SessionToken')];
  const expiresAtMs = Date.parse(at('Expiration') ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined || !(expiresAtMs > 0)) {
    throw new Error('the answer of STS has no key');
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs };
}

const stsAddress = ({ stsEndpoint, flavor, internalEndpoint, endpoint, region }: S3Settings): string => {
  const own = flavor === 'aws' ? null : (internalEndpoint ?? endpoint);
  return stsEndpoint ?? own ?? `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
};

import { addressOf, invalidSetting, readFlag, settingReader, type GivenSettings } from './setting-reader.ts';

/** How a bucket of S3 is reached; no secret. */
export type S3Settings = {
  readonly kind: 's3';
  readonly flavor: Flavor;
  readonly region: string;
  /** The address that clients are told; null = that of AWS for the region. */
  readonly endpoint: string | null;
  /** The address that Skein calls; null = `endpoint`. */
  readonly internalEndpoint: string | null;
  /** Where temporary keys come from; null = that of the region for AWS, else the address that Skein calls. */
  readonly stsEndpoint: string | null;
  readonly pathStyle: boolean;
  /** The role that temporary keys have. */
  readonly roleArn: string | null;
  readonly externalId: string | null;
  /**
   * The last check has found that the store refuses a copy whose source was not signed; absent = not checked, or it obeys. A signature to write
   * is then good for a copy of anything that its key can read.
   */
  readonly refusesUnsignedCopies?: boolean;
};

const FLAVORS = ['aws', 'minio', 'compatible'] as const;
type Flavor = (typeof FLAVORS)[number];

const NAMES = [
  'flavor',
  'region',
  'endpoint',
  'internal-endpoint',
  'sts-endpoint',
  'path-style',
  'role-arn',
  'external-id',
] as const;

/** @throws INVALID_REQUEST */
export function readS3Settings(given: GivenSettings, before?: S3Settings): S3Settings {
  const text = settingReader(given, NAMES);
  const flavor = text('flavor', before?.flavor) ?? (text('endpoint', before?.endpoint) === null ? 'aws' : 'compatible');
  if (!isFlavor(flavor)) throw invalidSetting(`the flavor is one of ${FLAVORS.join(', ')}`);
  const settings = {
    kind: 's3',
    flavor,
    region: text('region', before?.region) ?? (flavor === 'aws' ? '' : 'us-east-1'),
    endpoint: addressOf('endpoint', text('endpoint', before?.endpoint)),
    internalEndpoint: addressOf('internal-endpoint', text('internal-endpoint', before?.internalEndpoint)),
    stsEndpoint: addressOf('sts-endpoint', text('sts-endpoint', before?.stsEndpoint)),
    pathStyle: readFlag('path-style', text('path-style', String(before?.pathStyle ?? flavor === 'minio'))),
    roleArn: text('role-arn', before?.roleArn),
    externalId: text('external-id', before?.externalId),
  } as const;
  if (!/^[a-z0-9-]{1,64}$/.test(settings.region)) throw invalidSetting('a bucket of AWS needs its region');
  if (flavor !== 'aws' && settings.endpoint === null)
    throw invalidSetting(`a store of flavor ${flavor} needs an endpoint`);
  return settings;
}

const isFlavor = (text: string): text is Flavor => FLAVORS.some((flavor) => flavor === text);

/** Whether the store gives temporary keys. */
export const hasSts = ({ flavor, roleArn, stsEndpoint }: S3Settings): boolean =>
  flavor === 'minio' || roleArn !== null || (flavor === 'compatible' && stsEndpoint !== null);

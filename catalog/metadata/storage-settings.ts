import { SkeinError } from '#shared/error.ts';

/** How the bucket of a catalog is reached; no secret. */
export type StorageSettings = {
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

/** An access key as it is stored, sealed. */
export type AccessKey = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
};

/** The names of the settings in requests: those of the flags. */
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

type Given = Readonly<Partial<Record<string, string>>>;

/**
 * Reads the settings of a request over those that a catalog has. An empty text takes a setting back.
 * @throws INVALID_REQUEST
 */
export function readStorageSettings(given: Given, before?: StorageSettings): StorageSettings {
  const unknown = Object.keys(given).filter((name) => !NAMES.some((known) => known === name));
  if (unknown.length > 0) throw invalid(`unknown settings: ${unknown.join(', ')}`);
  const text = (name: (typeof NAMES)[number], otherwise: string | null | undefined): string | null => {
    const value = given[name];
    if (value === undefined) return otherwise ?? null;
    return value === '' ? null : value;
  };
  const flavor = text('flavor', before?.flavor) ?? (text('endpoint', before?.endpoint) === null ? 'aws' : 'compatible');
  if (!isFlavor(flavor)) throw invalid(`the flavor is one of ${FLAVORS.join(', ')}`);
  const settings = {
    flavor,
    region: text('region', before?.region) ?? (flavor === 'aws' ? '' : 'us-east-1'),
    endpoint: addressOf('endpoint', text('endpoint', before?.endpoint)),
    internalEndpoint: addressOf('internal-endpoint', text('internal-endpoint', before?.internalEndpoint)),
    stsEndpoint: addressOf('sts-endpoint', text('sts-endpoint', before?.stsEndpoint)),
    pathStyle: readBoolean(text('path-style', String(before?.pathStyle ?? flavor === 'minio'))),
    roleArn: text('role-arn', before?.roleArn),
    externalId: text('external-id', before?.externalId),
  };
  if (!/^[a-z0-9-]{1,64}$/.test(settings.region)) throw invalid('a bucket of AWS needs its region');
  if (flavor !== 'aws' && settings.endpoint === null) throw invalid(`a store of flavor ${flavor} needs an endpoint`);
  return settings;
}

const isFlavor = (text: string): text is Flavor => FLAVORS.some((flavor) => flavor === text);

function readBoolean(text: string | null): boolean {
  if (text === 'true') return true;
  if (text === 'false' || text === null) return false;
  throw invalid('path-style is true or false');
}

/** Without what follows the host. */
function addressOf(name: string, text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '';
  if (!isAddress || url.pathname !== '/') throw invalid(`${name} is no address such as https://s3.example.com`);
  return `${url.protocol}//${url.host}`;
}

/** Whether the store gives temporary keys. */
export const hasSts = ({ flavor, roleArn, stsEndpoint }: StorageSettings): boolean =>
  flavor === 'minio' || roleArn !== null || (flavor === 'compatible' && stsEndpoint !== null);

const invalid = (why: string): SkeinError => new SkeinError('INVALID_REQUEST', `the storage of the catalog: ${why}`);

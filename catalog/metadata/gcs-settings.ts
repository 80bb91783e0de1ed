import { addressOf, settingReader, type GivenSettings } from './setting-reader.ts';

/** How a bucket of Google Cloud Storage is reached; no secret. */
export type GcsSettings = {
  readonly kind: 'gcs';
  /** The address that clients are told; null = Google's. */
  readonly endpoint: string | null;
  /** The address that Skein calls; null = `endpoint`. */
  readonly internalEndpoint: string | null;
  /** Where tokens are exchanged for ones that open some folders; null = Google's. */
  readonly stsEndpoint: string | null;
  /** Project of the service account, for clients; null = it is not known. */
  readonly projectId: string | null;
};

const NAMES = ['endpoint', 'internal-endpoint', 'sts-endpoint'] as const;

/** @throws INVALID_REQUEST */
export function readGcsSettings(given: GivenSettings, before?: GcsSettings): GcsSettings {
  const text = settingReader(given, NAMES);
  return {
    kind: 'gcs',
    endpoint: addressOf('endpoint', text('endpoint', before?.endpoint)),
    internalEndpoint: addressOf('internal-endpoint', text('internal-endpoint', before?.internalEndpoint)),
    stsEndpoint: addressOf('sts-endpoint', text('sts-endpoint', before?.stsEndpoint)),
    projectId: before?.projectId ?? null,
  };
}

import { addressOf, readFlag, settingReader, type GivenSettings } from './setting-reader.ts';

/** How a container of Azure's storage is reached; no secret. The account is in the catalog's location. */
export type AdlsSettings = {
  readonly kind: 'adls';
  /** The address that clients are told; null = that of the account. */
  readonly endpoint: string | null;
  /** The address that Skein calls; null = `endpoint`. */
  readonly internalEndpoint: string | null;
  /** The directory that gives tokens; null = Microsoft's. */
  readonly stsEndpoint: string | null;
  /** The account has folders: a signature can open one of them. */
  readonly isHierarchical: boolean;
  /** Without folders, clients may have signatures that open the whole container. */
  readonly allowsContainerSas: boolean;
};

const NAMES = ['endpoint', 'internal-endpoint', 'sts-endpoint', 'hierarchical', 'allow-container-sas'] as const;

/** @throws INVALID_REQUEST */
export function readAdlsSettings(given: GivenSettings, before?: AdlsSettings): AdlsSettings {
  const text = settingReader(given, NAMES);
  const flag = (name: 'hierarchical' | 'allow-container-sas', otherwise: boolean | undefined): boolean =>
    readFlag(name, text(name, otherwise === undefined ? null : String(otherwise)));
  return {
    kind: 'adls',
    endpoint: addressOf('endpoint', text('endpoint', before?.endpoint)),
    internalEndpoint: addressOf('internal-endpoint', text('internal-endpoint', before?.internalEndpoint)),
    stsEndpoint: addressOf('sts-endpoint', text('sts-endpoint', before?.stsEndpoint)),
    isHierarchical: flag('hierarchical', before?.isHierarchical),
    allowsContainerSas: flag('allow-container-sas', before?.allowsContainerSas),
  };
}

import { withoutTrailingSlash } from '#shared/storage/location.ts';
import type { TableMetadata } from './table-metadata.ts';

type Places = Pick<TableMetadata, 'location' | 'properties'>;

/** Returns the folder of a table's data files. */
export const dataFolder = ({ location, properties }: Places): string =>
  withoutTrailingSlash(
    properties['write.data.path'] ??
      properties['write.folder-storage.path'] ??
      `${withoutTrailingSlash(location)}/data`,
  );

/** Returns the folder of a table's metadata files, manifests included. */
export const metadataFolder = ({ location, properties }: Places): string =>
  withoutTrailingSlash(properties['write.metadata.path'] ?? `${withoutTrailingSlash(location)}/metadata`);

/** Begins the names of files that a write makes for itself beside its data files: no snapshot has them, and they go when the write ends. */
export const STAGED_PREFIX = 'staged';

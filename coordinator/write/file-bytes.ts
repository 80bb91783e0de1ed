import type { Config } from '#shared/config/config-schema.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';

/** Size at which a file of the table ends and the next one begins. */
export const fileBytes = ({ properties }: TableMetadata, config: Pick<Config, 'load.data_file_bytes'>): number =>
  Number(properties['write.target-file-size-bytes']) || config['load.data_file_bytes'];

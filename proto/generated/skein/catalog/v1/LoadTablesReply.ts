// Original file: catalog.proto

import type { LoadedTableInput as _skein_catalog_v1_LoadedTableInput, LoadedTable as _skein_catalog_v1_LoadedTable } from '../../../skein/catalog/v1/LoadedTable.ts';

export interface LoadTablesReplyInput {
  readonly tables?: readonly (_skein_catalog_v1_LoadedTableInput)[];
}

export interface LoadTablesReply {
  readonly tables: readonly (_skein_catalog_v1_LoadedTable)[];
}

// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';
import type { TableNameInput as _skein_catalog_v1_TableNameInput, TableName as _skein_catalog_v1_TableName } from '../../../skein/catalog/v1/TableName.ts';
import type { StagedFileInput as _skein_catalog_v1_StagedFileInput, StagedFile as _skein_catalog_v1_StagedFile } from '../../../skein/catalog/v1/StagedFile.ts';

export interface FindLoadsRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly table?: (_skein_catalog_v1_TableNameInput | null);
  readonly branch?: (string);
  readonly stage_id?: (string);
  readonly files?: readonly (_skein_catalog_v1_StagedFileInput)[];
}

export interface FindLoadsRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly table: (_skein_catalog_v1_TableName | null);
  readonly branch: (string);
  readonly stage_id: (string);
  readonly files: readonly (_skein_catalog_v1_StagedFile)[];
}

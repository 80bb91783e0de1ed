// Original file: catalog.proto

import type { TableNameInput as _skein_catalog_v1_TableNameInput, TableName as _skein_catalog_v1_TableName } from '../../../skein/catalog/v1/TableName.ts';
import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface LoadTablesRequestInput {
  readonly names?: readonly (_skein_catalog_v1_TableNameInput)[];
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly moment?: (string);
}

export interface LoadTablesRequest {
  readonly names: readonly (_skein_catalog_v1_TableName)[];
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly moment: (string);
}

// Original file: catalog.proto

import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from '../../../skein/catalog/v1/Principal.ts';

export interface CommitTablesRequestInput {
  readonly principal?: (_skein_catalog_v1_PrincipalInput | null);
  readonly key?: (string);
  readonly transaction?: (Buffer | Uint8Array | string);
}

export interface CommitTablesRequest {
  readonly principal: (_skein_catalog_v1_Principal | null);
  readonly key: (string);
  readonly transaction: (Buffer);
}

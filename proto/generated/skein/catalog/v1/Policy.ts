// Original file: catalog.proto

import type { PolicyArgumentInput as _skein_catalog_v1_PolicyArgumentInput, PolicyArgument as _skein_catalog_v1_PolicyArgument } from '../../../skein/catalog/v1/PolicyArgument.ts';
import type { TableNameInput as _skein_catalog_v1_TableNameInput, TableName as _skein_catalog_v1_TableName } from '../../../skein/catalog/v1/TableName.ts';
import type { Long } from '@grpc/proto-loader';

export interface PolicyInput {
  readonly kind?: (string);
  readonly name?: (string);
  readonly field_id?: (number);
  readonly body?: (string);
  readonly id?: (string);
  readonly version?: (number | string | Long);
  readonly arguments?: readonly (_skein_catalog_v1_PolicyArgumentInput)[];
  readonly mapping_tables?: readonly (_skein_catalog_v1_TableNameInput)[];
}

export interface Policy {
  readonly kind: (string);
  readonly name: (string);
  readonly field_id: (number);
  readonly body: (string);
  readonly id: (string);
  readonly version: (string);
  readonly arguments: readonly (_skein_catalog_v1_PolicyArgument)[];
  readonly mapping_tables: readonly (_skein_catalog_v1_TableName)[];
}

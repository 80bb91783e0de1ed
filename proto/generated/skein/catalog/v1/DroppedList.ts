// Original file: catalog.proto

import type { DroppedTableInput as _skein_catalog_v1_DroppedTableInput, DroppedTable as _skein_catalog_v1_DroppedTable } from '../../../skein/catalog/v1/DroppedTable.ts';

export interface DroppedListInput {
  readonly tables?: readonly (_skein_catalog_v1_DroppedTableInput)[];
  readonly more?: (boolean);
}

export interface DroppedList {
  readonly tables: readonly (_skein_catalog_v1_DroppedTable)[];
  readonly more: (boolean);
}

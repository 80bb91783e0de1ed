// Original file: catalog.proto

import type { StageInput as _skein_catalog_v1_StageInput, Stage as _skein_catalog_v1_Stage } from '../../../skein/catalog/v1/Stage.ts';

export interface StageListInput {
  readonly stages?: readonly (_skein_catalog_v1_StageInput)[];
  readonly more?: (boolean);
}

export interface StageList {
  readonly stages: readonly (_skein_catalog_v1_Stage)[];
  readonly more: (boolean);
}

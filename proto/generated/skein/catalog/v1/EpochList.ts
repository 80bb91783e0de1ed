// Original file: catalog.proto

import type { EpochInput as _skein_catalog_v1_EpochInput, Epoch as _skein_catalog_v1_Epoch } from '../../../skein/catalog/v1/Epoch.ts';

export interface EpochListInput {
  readonly epochs?: readonly (_skein_catalog_v1_EpochInput)[];
}

export interface EpochList {
  readonly epochs: readonly (_skein_catalog_v1_Epoch)[];
}

// Original file: catalog.proto

import type { EpochInput as _skein_catalog_v1_EpochInput, Epoch as _skein_catalog_v1_Epoch } from '../../../skein/catalog/v1/Epoch.ts';
import type { EndedSignInInput as _skein_catalog_v1_EndedSignInInput, EndedSignIn as _skein_catalog_v1_EndedSignIn } from '../../../skein/catalog/v1/EndedSignIn.ts';

export interface EpochListInput {
  readonly epochs?: readonly (_skein_catalog_v1_EpochInput)[];
  readonly ended_sign_ins?: readonly (_skein_catalog_v1_EndedSignInInput)[];
}

export interface EpochList {
  readonly epochs: readonly (_skein_catalog_v1_Epoch)[];
  readonly ended_sign_ins: readonly (_skein_catalog_v1_EndedSignIn)[];
}

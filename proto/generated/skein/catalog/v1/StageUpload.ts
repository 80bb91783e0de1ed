// Original file: catalog.proto

import type { StageInput as _skein_catalog_v1_StageInput, Stage as _skein_catalog_v1_Stage } from '../../../skein/catalog/v1/Stage.ts';
import type { Long } from '@grpc/proto-loader';

export interface StageUploadInput {
  readonly stage?: (_skein_catalog_v1_StageInput | null);
  readonly path?: (string);
  readonly part_bytes?: (number | string | Long);
  readonly size_bytes?: (number | string | Long);
  readonly expires_at_ms?: (number | string | Long);
  readonly store_upload_id?: (string);
}

export interface StageUpload {
  readonly stage: (_skein_catalog_v1_Stage | null);
  readonly path: (string);
  readonly part_bytes: (string);
  readonly size_bytes: (string);
  readonly expires_at_ms: (string);
  readonly store_upload_id: (string);
}

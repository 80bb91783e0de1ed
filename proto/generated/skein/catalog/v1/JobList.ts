// Original file: catalog.proto

import type { ParkedJobInput as _skein_catalog_v1_ParkedJobInput, ParkedJob as _skein_catalog_v1_ParkedJob } from '../../../skein/catalog/v1/ParkedJob.ts';

export interface JobListInput {
  readonly jobs?: readonly (_skein_catalog_v1_ParkedJobInput)[];
}

export interface JobList {
  readonly jobs: readonly (_skein_catalog_v1_ParkedJob)[];
}

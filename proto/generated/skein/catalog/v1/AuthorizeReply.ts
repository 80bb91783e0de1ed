// Original file: catalog.proto

import type { DecisionInput as _skein_catalog_v1_DecisionInput, Decision as _skein_catalog_v1_Decision } from '../../../skein/catalog/v1/Decision.ts';

export interface AuthorizeReplyInput {
  readonly decisions?: readonly (_skein_catalog_v1_DecisionInput)[];
}

export interface AuthorizeReply {
  readonly decisions: readonly (_skein_catalog_v1_Decision)[];
}

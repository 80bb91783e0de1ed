// Original file: catalog.proto

import type { DecisionInput as _skein_catalog_v1_DecisionInput, Decision as _skein_catalog_v1_Decision } from '../../../skein/catalog/v1/Decision.ts';

export interface AuthorizeReplyInput {
  readonly decisions?: readonly (_skein_catalog_v1_DecisionInput)[];
  readonly default_role?: (string);
  readonly default_warehouse?: (string);
  readonly must_change_password?: (boolean);
}

export interface AuthorizeReply {
  readonly decisions: readonly (_skein_catalog_v1_Decision)[];
  readonly default_role: (string);
  readonly default_warehouse: (string);
  readonly must_change_password: (boolean);
}

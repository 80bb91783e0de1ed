// Original file: catalog.proto

import type { Long } from '@grpc/proto-loader';

export interface PrincipalInput {
  readonly tenant?: (string);
  readonly id?: (string);
  readonly roles?: readonly (string)[];
  readonly scope?: (string);
  readonly session_epoch?: (number | string | Long);
  readonly auth_method?: (string);
  readonly username?: (string);
  readonly must_change_password?: (boolean);
  readonly auth_time?: (number | string | Long);
  readonly sid?: (string);
  readonly amr?: readonly (string)[];
  readonly privileges?: readonly (string)[];
}

export interface Principal {
  readonly tenant: (string);
  readonly id: (string);
  readonly roles: readonly (string)[];
  readonly scope: (string);
  readonly session_epoch: (string);
  readonly auth_method: (string);
  readonly username: (string);
  readonly must_change_password: (boolean);
  readonly auth_time: (string);
  readonly sid: (string);
  readonly amr: readonly (string)[];
  readonly privileges: readonly (string)[];
}

// Original file: member.proto


export interface ReachRequestInput {
  readonly catalogs?: readonly (string)[];
  readonly workers?: readonly (string)[];
}

export interface ReachRequest {
  readonly catalogs: readonly (string)[];
  readonly workers: readonly (string)[];
}

// Original file: catalog.proto


export interface ResealSecretsRequestInput {
  readonly current?: (string);
  readonly accepted?: (string);
  readonly check_only?: (boolean);
}

export interface ResealSecretsRequest {
  readonly current: (string);
  readonly accepted: (string);
  readonly check_only: (boolean);
}

// Original file: worker.proto


export interface ReachRequestInput {
  readonly address?: (string);
}

export interface ReachRequest {
  readonly address: (string);
}

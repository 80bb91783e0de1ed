// Original file: member.proto


export interface RestartRequestInput {
  readonly id?: (string);
}

export interface RestartRequest {
  readonly id: (string);
}

// Original file: worker.proto


export interface RunTaskRequestInput {
  readonly spec?: (Buffer | Uint8Array | string);
  readonly ticket?: (string);
  readonly messages?: readonly (Buffer | Uint8Array | string)[];
}

export interface RunTaskRequest {
  readonly spec: (Buffer);
  readonly ticket: (string);
  readonly messages: readonly (Buffer)[];
}

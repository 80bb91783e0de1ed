// Original file: worker.proto


export interface ReadPartitionRequestInput {
  readonly ticket?: (Buffer | Uint8Array | string);
}

export interface ReadPartitionRequest {
  readonly ticket: (Buffer);
}

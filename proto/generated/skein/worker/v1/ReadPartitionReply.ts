// Original file: worker.proto


export interface ReadPartitionReplyInput {
  readonly messages?: readonly (Buffer | Uint8Array | string)[];
  readonly is_long?: (boolean);
}

export interface ReadPartitionReply {
  readonly messages: readonly (Buffer)[];
  readonly is_long: (boolean);
}

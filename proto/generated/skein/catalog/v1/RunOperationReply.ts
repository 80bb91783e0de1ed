// Original file: catalog.proto


export interface RunOperationReplyInput {
  readonly body?: (Buffer | Uint8Array | string);
}

export interface RunOperationReply {
  readonly body: (Buffer);
}

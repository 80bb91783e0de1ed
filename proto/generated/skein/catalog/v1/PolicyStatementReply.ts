// Original file: catalog.proto


export interface PolicyStatementReplyInput {
  readonly answer?: (Buffer | Uint8Array | string);
}

export interface PolicyStatementReply {
  readonly answer: (Buffer);
}

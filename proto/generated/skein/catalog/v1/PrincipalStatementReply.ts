// Original file: catalog.proto


export interface PrincipalStatementReplyInput {
  readonly answer?: (Buffer | Uint8Array | string);
}

export interface PrincipalStatementReply {
  readonly answer: (Buffer);
}

// Original file: catalog.proto


export interface GetMomentReplyInput {
  readonly moment?: (string);
}

export interface GetMomentReply {
  readonly moment: (string);
}

// Original file: catalog.proto


export interface ResealSecretsReplyInput {
  readonly resealed?: (number);
}

export interface ResealSecretsReply {
  readonly resealed: (number);
}

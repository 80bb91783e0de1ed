// Original file: catalog.proto


export interface FindFoldersReplyInput {
  readonly folders?: readonly (string)[];
}

export interface FindFoldersReply {
  readonly folders: readonly (string)[];
}

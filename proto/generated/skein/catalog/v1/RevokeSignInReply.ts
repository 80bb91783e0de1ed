// Original file: catalog.proto


export interface RevokeSignInReplyInput {
}

export interface RevokeSignInReply {
}

// Original file: catalog.proto


export interface RescueUserReplyInput {
}

export interface RescueUserReply {
}

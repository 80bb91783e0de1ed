// Original file: worker.proto


export interface EndQueryReplyInput {
}

export interface EndQueryReply {
}

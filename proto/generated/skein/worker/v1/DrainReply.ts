// Original file: worker.proto


export interface DrainReplyInput {
}

export interface DrainReply {
}

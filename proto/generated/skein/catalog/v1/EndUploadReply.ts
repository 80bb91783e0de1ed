// Original file: catalog.proto


export interface EndUploadReplyInput {
}

export interface EndUploadReply {
}

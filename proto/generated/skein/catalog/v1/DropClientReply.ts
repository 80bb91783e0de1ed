// Original file: catalog.proto


export interface DropClientReplyInput {
}

export interface DropClientReply {
}

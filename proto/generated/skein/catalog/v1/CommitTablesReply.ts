// Original file: catalog.proto


export interface CommitTablesReplyInput {
}

export interface CommitTablesReply {
}

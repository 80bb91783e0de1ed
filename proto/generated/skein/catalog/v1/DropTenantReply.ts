// Original file: catalog.proto


export interface DropTenantReplyInput {
}

export interface DropTenantReply {
}

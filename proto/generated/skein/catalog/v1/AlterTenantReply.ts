// Original file: catalog.proto


export interface AlterTenantReplyInput {
}

export interface AlterTenantReply {
}

// Original file: catalog.proto


export interface AlterCatalogReplyInput {
}

export interface AlterCatalogReply {
}

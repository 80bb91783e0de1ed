// Original file: catalog.proto


export interface CreateCatalogReplyInput {
}

export interface CreateCatalogReply {
}

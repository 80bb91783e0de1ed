// Original file: catalog.proto


export interface DropCatalogReplyInput {
}

export interface DropCatalogReply {
}

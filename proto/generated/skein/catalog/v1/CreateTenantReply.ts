// Original file: catalog.proto


export interface CreateTenantReplyInput {
  readonly tenant_id?: (string);
}

export interface CreateTenantReply {
  readonly tenant_id: (string);
}

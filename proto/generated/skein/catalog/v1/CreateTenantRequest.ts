// Original file: catalog.proto


export interface CreateTenantRequestInput {
  readonly name?: (string);
  readonly admin_user?: (string);
  readonly admin_password?: (string);
  readonly admin_email?: (string);
}

export interface CreateTenantRequest {
  readonly name: (string);
  readonly admin_user: (string);
  readonly admin_password: (string);
  readonly admin_email: (string);
}

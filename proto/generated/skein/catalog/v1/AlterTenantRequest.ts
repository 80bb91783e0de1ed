// Original file: catalog.proto


export interface AlterTenantRequestInput {
  readonly name?: (string);
  readonly password_min_length?: (number);
  readonly password_classes?: (number);
  readonly password_history?: (number);
  readonly mfa?: (string);
}

export interface AlterTenantRequest {
  readonly name: (string);
  readonly password_min_length: (number);
  readonly password_classes: (number);
  readonly password_history: (number);
  readonly mfa: (string);
}

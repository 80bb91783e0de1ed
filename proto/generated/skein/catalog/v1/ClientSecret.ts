// Original file: catalog.proto


export interface ClientSecretInput {
  readonly client_id?: (string);
  readonly client_secret?: (string);
}

export interface ClientSecret {
  readonly client_id: (string);
  readonly client_secret: (string);
}

// Original file: catalog.proto


export interface SigningKeysInput {
  readonly jwks_json?: (string);
}

export interface SigningKeys {
  readonly jwks_json: (string);
}

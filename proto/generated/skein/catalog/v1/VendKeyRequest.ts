// Original file: catalog.proto


export interface VendKeyRequestInput {
  readonly folders?: readonly (string)[];
  readonly writes?: (boolean);
  readonly tenant?: (string);
  readonly refused_key_id?: (string);
}

export interface VendKeyRequest {
  readonly folders: readonly (string)[];
  readonly writes: (boolean);
  readonly tenant: (string);
  readonly refused_key_id: (string);
}

// Original file: worker.proto


export interface WantedKeyInput {
  readonly query_id?: (string);
  readonly credential_id?: (string);
}

export interface WantedKey {
  readonly query_id: (string);
  readonly credential_id: (string);
}

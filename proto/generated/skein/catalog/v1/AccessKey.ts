// Original file: catalog.proto


export interface AccessKeyInput {
  readonly access_key_id?: (string);
  readonly secret_access_key?: (string);
  readonly session_token?: (string);
  readonly document?: (string);
}

export interface AccessKey {
  readonly access_key_id: (string);
  readonly secret_access_key: (string);
  readonly session_token: (string);
  readonly document: (string);
}

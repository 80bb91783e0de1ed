// Original file: catalog.proto


export interface RevokeSignInRequestInput {
  readonly refresh_token?: (string);
  readonly client_id?: (string);
}

export interface RevokeSignInRequest {
  readonly refresh_token: (string);
  readonly client_id: (string);
}

// Original file: catalog.proto


export interface RenewSignInRequestInput {
  readonly refresh_token?: (string);
  readonly client_id?: (string);
}

export interface RenewSignInRequest {
  readonly refresh_token: (string);
  readonly client_id: (string);
}

// Original file: catalog.proto


export interface SignInRequestInput {
  readonly user?: (string);
  readonly password?: (string);
  readonly tenant?: (string);
  readonly address?: (string);
  readonly agent?: (string);
}

export interface SignInRequest {
  readonly user: (string);
  readonly password: (string);
  readonly tenant: (string);
  readonly address: (string);
  readonly agent: (string);
}

// Original file: catalog.proto


export interface RescueUserRequestInput {
  readonly tenant?: (string);
  readonly user?: (string);
  readonly what?: (string);
  readonly password?: (string);
}

export interface RescueUserRequest {
  readonly tenant: (string);
  readonly user: (string);
  readonly what: (string);
  readonly password: (string);
}

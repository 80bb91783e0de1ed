// Original file: catalog.proto


export interface RedeemCodeRequestInput {
  readonly code?: (string);
  readonly client_id?: (string);
  readonly redirect_uri?: (string);
  readonly verifier?: (string);
  readonly address?: (string);
  readonly agent?: (string);
}

export interface RedeemCodeRequest {
  readonly code: (string);
  readonly client_id: (string);
  readonly redirect_uri: (string);
  readonly verifier: (string);
  readonly address: (string);
  readonly agent: (string);
}

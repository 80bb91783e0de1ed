// Original file: worker.proto


export interface RenewKeyRequestInput {
  readonly ticket?: (string);
  readonly old_credential_id?: (string);
  readonly credential?: (Buffer | Uint8Array | string);
}

export interface RenewKeyRequest {
  readonly ticket: (string);
  readonly old_credential_id: (string);
  readonly credential: (Buffer);
}

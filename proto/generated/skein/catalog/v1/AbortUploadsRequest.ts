// Original file: catalog.proto


export interface AbortUploadsRequestInput {
  readonly folders?: readonly (string)[];
  readonly text?: (string);
}

export interface AbortUploadsRequest {
  readonly folders: readonly (string)[];
  readonly text: (string);
}

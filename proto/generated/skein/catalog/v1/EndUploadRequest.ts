// Original file: catalog.proto


export interface EndUploadRequestInput {
  readonly upload_id?: (string);
  readonly in_parts?: (boolean);
}

export interface EndUploadRequest {
  readonly upload_id: (string);
  readonly in_parts: (boolean);
}

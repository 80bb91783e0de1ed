// Original file: catalog.proto


export interface StagedFileInput {
  readonly path?: (string);
  readonly etag?: (string);
}

export interface StagedFile {
  readonly path: (string);
  readonly etag: (string);
}

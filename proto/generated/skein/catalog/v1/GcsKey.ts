// Original file: catalog.proto


export interface GcsKeyInput {
  readonly token?: (string);
}

export interface GcsKey {
  readonly token: (string);
}

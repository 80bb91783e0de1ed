// Original file: catalog.proto


export interface AuditPageInput {
  readonly rows?: readonly (string)[];
  readonly next?: (string);
}

export interface AuditPage {
  readonly rows: readonly (string)[];
  readonly next: (string);
}

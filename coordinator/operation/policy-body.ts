import type { MappingRequest } from '#shared/policy/policy-request.ts';

/** The names that a body may use beside those of its mapping tables, and the type that it gives. Types are spelled as DuckDB prints them. */
export type PolicySignature = {
  readonly arguments: readonly { readonly name: string; readonly type: string }[];
  readonly returns: string;
};

/** A body with every name in it completed, and the tables that it reads, as they were. */
export type PolicyBody = { readonly body: string; readonly mappings: readonly MappingRequest[] };

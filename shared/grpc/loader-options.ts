/**
 * How a message of `proto/*.proto` looks in TypeScript: 64-bit integers are decimal strings, enums their names, bytes a `Buffer`; absent fields
 * have their default, absent messages are null, and field names stay as in the file. `npm run proto:types` makes the types from the same.
 */
export const LOADER_OPTIONS = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true } as const;

import { fileCredential } from '#shared/storage/credential.ts';

/** The credential of local files. */
export const FILE_CREDENTIAL = fileCredential('file:///');

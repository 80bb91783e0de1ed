import { openStorage } from '#shared/storage/open-storage.ts';
import { FILE_CREDENTIAL } from './file-credential.ts';

/** The storage of all local files, for tests that lay files somewhere. */
export const fileStorage = openStorage('file:///', FILE_CREDENTIAL);

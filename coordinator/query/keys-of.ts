import type { StorageCredential } from '#shared/storage/credential.ts';
import { freshKey } from '../catalog-client/fresh-key.ts';
import type { RunnerServices } from './runner-services.ts';

/** Gives the scans of a tenant's queries keys that live for a while. */
export const keysOf =
  ({ sessions }: Pick<RunnerServices, 'sessions'>, tenant: string) =>
  (key: StorageCredential): Promise<StorageCredential> =>
    freshKey(sessions.catalog, tenant, key);

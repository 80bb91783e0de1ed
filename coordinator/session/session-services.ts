import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { ClientConnections } from './client-connections.ts';
import type { NameFinder } from './current-names.ts';
import type { EncodedBlocks } from './encoded-blocks.ts';
import type { SessionStore } from './session-store.ts';

/** The services that statements of all sessions share. */
export type SessionServices = {
  readonly store: SessionStore;
  readonly names: NameFinder;
  readonly catalog: CatalogClient;
  /** Rows of INFORMATION_SCHEMA that earlier statements have made. */
  readonly encoded: EncodedBlocks;
  /** The connections that have a number. */
  readonly connections: ClientConnections;
};

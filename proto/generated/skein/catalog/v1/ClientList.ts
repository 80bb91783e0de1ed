// Original file: catalog.proto

import type { ListedClientInput as _skein_catalog_v1_ListedClientInput, ListedClient as _skein_catalog_v1_ListedClient } from '../../../skein/catalog/v1/ListedClient.ts';

export interface ClientListInput {
  readonly clients?: readonly (_skein_catalog_v1_ListedClientInput)[];
}

export interface ClientList {
  readonly clients: readonly (_skein_catalog_v1_ListedClient)[];
}

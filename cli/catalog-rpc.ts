import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { callUnary, type ReplyOf, type UnaryRequest, type UnaryMethod } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { AddressList } from '#shared/grpc/address-list.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { hasSecret } from '#shared/keyring.ts';
import { findCluster, type ReadyLine } from './cluster-file.ts';
import { doorTrust, type DoorTrust } from './door-fetch.ts';
import { operatorSecurity } from './operator-security.ts';

const CALL_TIMEOUT_MS = 15_000;

/** Addresses of the internal gRPC of catalogs, separated by commas, and the security of the channel. */
type InternalTarget = { readonly internalUrl: string; readonly security: ChannelSecurity };

/** Addresses of the cluster, and the default tenant and user of commands. */
export type Target = InternalTarget & {
  readonly catalogUrl: string;
  readonly queryUrl: string;
  /** The certificates that the query API may show. */
  readonly trust: DoorTrust;
  readonly tenant: string;
  readonly user: string;
};

/**
 * Finds the cluster that a command talks to: the one that runs in the data directory; else, when the configuration names both the
 * catalog's internal address and the cluster's secret (as in a container of a service), that one.
 * @throws NO_CLUSTER, UNAUTHENTICATED when its secret cannot be read
 */
export function findTarget({ config, sources }: LoadedConfig): Target {
  try {
    const { ready, services } = findCluster(config.data_dir);
    return {
      ...fromReady(ready, services.catalog_internal_url, operatorSecurity(config)),
      trust: doorTrust(config, services.door_certificates),
    };
  } catch (error) {
    const named = sources['catalog.internal_url'] !== 'default' && hasSecret(config);
    if (SkeinError.of(error).code !== 'NO_CLUSTER' || !named) throw error;
    return {
      internalUrl: config['catalog.internal_url'].join(','),
      security: operatorSecurity(config),
      catalogUrl: config['catalog.url'],
      ...ownDoor(config),
      tenant: config['bootstrap.tenant'],
      user: config['admin.user'],
    };
  }
}

/** The query API that the configuration names, else the one of this machine. */
function ownDoor(config: Config): Pick<Target, 'queryUrl' | 'trust'> {
  const { 'client.query_url': named, 'coordinator.tls_cert': cert, 'coordinator.http_port': port } = config;
  if (named !== '') return { queryUrl: named, trust: doorTrust(config) };
  const queryUrl = `${cert === '' ? 'http' : 'https'}://127.0.0.1:${port}`;
  return { queryUrl, trust: doorTrust(config, cert === '' ? [] : [cert]) };
}

const fromReady = (ready: ReadyLine, internalUrl: string, security: ChannelSecurity): Omit<Target, 'trust'> => ({
  internalUrl,
  security,
  catalogUrl: ready.catalog_url,
  queryUrl: ready.query_url,
  tenant: ready.tenant,
  user: ready.user,
});

/** Makes one call to the catalog's internal service. @throws the service's error, CATALOG_UNAVAILABLE */
export async function callCatalog<Name extends UnaryMethod<CatalogInternalClient>>(
  target: InternalTarget,
  method: Name,
  request: UnaryRequest<CatalogInternalClient, Name>,
): Promise<ReplyOf<CatalogInternalClient, Name>> {
  const { Client } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const client = target.security.dial(Client, {
    address: new AddressList(target.internalUrl.split(',')),
    role: 'catalog',
  });
  const { keyring } = target.security;
  try {
    return await callUnary(client, method, request, {
      keyring,
      timeoutMs: CALL_TIMEOUT_MS,
      lost: 'CATALOG_UNAVAILABLE',
    });
  } finally {
    client.close();
  }
}

export type TokenRequest = {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  /** 0 = `catalog.token_ttl`. */
  readonly ttlMs?: number;
  /** Empty = every scope. */
  readonly scope?: readonly string[];
};

/** Mints a bearer token for the target's default user, unless the request names another. */
export async function mintToken(
  target: InternalTarget & Pick<Target, 'tenant' | 'user'>,
  request: TokenRequest = {},
): Promise<string> {
  const { token } = await callCatalog(target, 'MintToken', {
    tenant: request.tenant ?? target.tenant,
    user: request.user ?? target.user,
    ttl_ms: String(request.ttlMs ?? 0),
    scope: request.scope ?? [],
  });
  return token;
}

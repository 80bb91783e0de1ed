import {
  credentials,
  experimental,
  ServerCredentials,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type Metadata,
  type Server,
} from '@grpc/grpc-js';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { openKeyring, type Keyring } from '#shared/keyring.ts';
import type { Logger } from '#shared/log/logger.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import { anyOf, type AddressList } from './address-list.ts';
import { rolesOf, type ClusterRole } from './cluster-role.ts';
import { requireSecret } from './internal-auth.ts';
import { CLIENT_KEEPALIVE } from './keepalive.ts';
import { hostOf, isLoopback } from '../config/loopback.ts';
import { listenGrpc, type GrpcPort } from './listen.ts';
import { ProvenCredentials, roleCredentials } from './proven-credentials.ts';
import { TlsFiles } from './tls-files.ts';

type ClientConstructor<C extends Client> = new (
  address: string,
  credentials: ChannelCredentials,
  options?: ChannelOptions,
) => C;

/** The peer that a client dials. */
type Peer = {
  /** host:port from any source, or several of them, of which any will do: the process that answers there has to prove its role. */
  readonly address: string | AddressList;
  readonly role: ClusterRole;
  /** Called with the reason, whenever an attempt of the peer to prove its role fails. */
  readonly onUnproven?: (reason: string) => void;
};

/** A call from the server's point of view. */
type IncomingCall = {
  readonly metadata: Metadata;
  /** Absent for calls that a stream carries. */
  getPeer?(): string;
  getAuthContext(): { readonly sslPeerCertificate?: { readonly subjectaltname?: string } };
};

/**
 * Mutual trust between the processes of a cluster; the only place that makes credentials of internal channels. With `cluster.tls_*` every
 * channel is mutual TLS, on loopback too; without it, processes dial and listen on loopback only, in plaintext. A peer proves its role with
 * a certificate of the cluster's authority before it is sent the secret, which is required as well.
 */
export interface ChannelSecurity extends Disposable {
  readonly keyring: Keyring;
  /**
   * Returns a client; it sends nothing before the peer has proven its role, and gives a silent connection up (`keepalive.ts`). @throws INVALID_CONFIGURATION for plaintext
   * beyond loopback
   */
  dial<C extends Client>(Client: ClientConstructor<C>, peer: Peer, options?: ChannelOptions): C;
  /** Returns the credentials for a server that listens on `host`. @throws INVALID_CONFIGURATION for plaintext beyond loopback */
  serverCredentials(host: string): ServerCredentials;
  /**
   * Lets a server answer at a port of this process; a connection that has made no call that was admitted ends in time (`Newcomers`).
   * @throws PORT_IN_USE, INVALID_CONFIGURATION for plaintext beyond loopback
   */
  listen(server: Server, host: string, port: number): Promise<GrpcPort>;
  /** @throws FORBIDDEN unless the caller has proven one of the roles, UNAUTHENTICATED without the cluster's secret. */
  admit(call: IncomingCall, roles: readonly ClusterRole[]): void;
}

/** The target of a peer's channel. @throws INVALID_CONFIGURATION when an address is not host:port */
function targetOf(
  address: string | AddressList,
  mayDial: (address: string) => boolean = (one) => hostOf(one) !== undefined,
): { readonly target: string; readonly options: ChannelOptions } {
  for (const one of typeof address === 'string' ? [address] : address.addresses) {
    if (hostOf(one) === undefined) {
      throw new SkeinError('INVALID_CONFIGURATION', `${one} is not an address of the form host:port`);
    }
  }
  return typeof address === 'string' ? { target: address, options: {} } : anyOf(address, mayDial);
}

/** Internal calls ignore `http_proxy` of the environment. */
const NO_PROXY = { 'grpc.enable_http_proxy': 0 } as const;

/** Opens the channel security of a process of `role`, as configured. @throws INVALID_CONFIGURATION */
export function openChannelSecurity(config: Config, role: ClusterRole, log: Logger): ChannelSecurity {
  const newcomers = new Newcomers(newcomerLimits(config));
  const tls = openTls(config, log);
  if (tls === undefined) return plainSecurity(openKeyring(config, log), newcomers);
  const { leaf } = tls.material;
  const roles = rolesOf(leaf.subjectAltName);
  if (!roles.includes(role)) {
    const has = roles.length === 0 ? 'no role of a cluster' : roles.join(', ');
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      `the certificate in ${config['cluster.tls_cert']} is for ${has}; this process needs one for ${role}`,
    );
  }
  log.debug({ roles, name: leaf.subjectAltName, until: leaf.validTo }, 'internal channels are mutual TLS');
  return tlsSecurity(openKeyring(config, log), tls, newcomers);
}

/** Opens the files of `cluster.tls_*`; undefined when they are not set (`checkConfig` ensures that all are, or none). */
function openTls(config: Config, log: Logger): TlsFiles | undefined {
  const { 'cluster.tls_ca': ca, 'cluster.tls_cert': cert, 'cluster.tls_key': key } = config;
  if (ca === '') return undefined;
  return new TlsFiles({ ca, cert, key }, { intervalMs: config['cluster.reload_interval'], log });
}

const plaintextRefused = (where: string): SkeinError =>
  new SkeinError(
    'INVALID_CONFIGURATION',
    `${where} is beyond loopback, where internal channels need mutual TLS: set cluster.tls_ca, cluster.tls_cert and ` +
      'cluster.tls_key (skein cluster ca makes them)',
  );

/** @throws INVALID_CONFIGURATION when an address is beyond loopback; one that comes into the list later is left out */
function plainTarget(address: string | AddressList): ReturnType<typeof targetOf> {
  const isNear = (one: string): boolean => {
    const host = hostOf(one);
    return host !== undefined && isLoopback(host);
  };
  for (const one of typeof address === 'string' ? [address] : address.addresses) {
    if (!isNear(one)) throw plaintextRefused(one);
  }
  return targetOf(address, isNear);
}

/** Returns channel security that allows plaintext on loopback only. */
export function plainSecurity(
  keyring: Keyring & Partial<Disposable>,
  newcomers = new Newcomers(newcomerLimits(defaultConfig({}))),
): ChannelSecurity {
  const serverCredentials = (host: string): ServerCredentials => {
    if (!isLoopback(host)) throw plaintextRefused(`the address ${host}`);
    return ServerCredentials.createInsecure();
  };
  return {
    keyring,
    dial: (Client, { address }, options) => {
      const dialled = plainTarget(address);
      return new Client(dialled.target, credentials.createInsecure(), {
        ...CLIENT_KEEPALIVE,
        ...options,
        ...dialled.options,
        ...NO_PROXY,
      });
    },
    serverCredentials,
    listen: (server, host, port) =>
      listenGrpc(server, { host, port }, { credentials: serverCredentials(host), newcomers }),
    admit: (call) => {
      requireSecret(call.metadata, keyring);
      isKnown(call, newcomers);
    },
    [Symbol.dispose]: () => keyring[Symbol.dispose]?.(),
  };
}

/** The connection of a call has signed in. */
function isKnown(call: IncomingCall, newcomers: Newcomers): void {
  const peer = call.getPeer?.();
  if (peer !== undefined) newcomers.signedIn(peer);
}

function tlsSecurity(keyring: Keyring & Disposable, tls: TlsFiles, newcomers: Newcomers): ChannelSecurity {
  const serverCredentials = (): ServerCredentials =>
    experimental.createCertificateProviderServerCredentials(tls, tls, true);
  const byRole = new Map<ClusterRole, ChannelCredentials>();
  const credentialsFor = (role: ClusterRole): ChannelCredentials => {
    const found = byRole.get(role) ?? roleCredentials(tls, role);
    byRole.set(role, found);
    return found;
  };
  return {
    keyring,
    dial: (Client, { address, role, onUnproven }, options) => {
      const dialled = targetOf(address);
      return new Client(dialled.target, new ProvenCredentials(credentialsFor(role), onUnproven), {
        ...CLIENT_KEEPALIVE,
        ...options,
        ...dialled.options,
        ...NO_PROXY,
        // The server name of the handshake, which must not be an address.
        'grpc.ssl_target_name_override': `${role}.skein`,
      });
    },
    serverCredentials,
    listen: (server, host, port) => listenGrpc(server, { host, port }, { credentials: serverCredentials(), newcomers }),
    admit: (call, roles) => {
      const proven = rolesOf(call.getAuthContext().sslPeerCertificate?.subjectaltname);
      if (!proven.some((role) => roles.includes(role))) {
        const has = proven.length === 0 ? 'no role' : `the role ${proven.join(', ')}`;
        throw new SkeinError('FORBIDDEN', `a certificate with ${has} may not make this call`);
      }
      requireSecret(call.metadata, keyring);
      isKnown(call, newcomers);
    },
    [Symbol.dispose]: () => {
      tls[Symbol.dispose]();
      if (keyring[Symbol.dispose] !== undefined) keyring[Symbol.dispose]();
    },
  };
}

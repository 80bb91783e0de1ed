import type { Socket } from 'node:net';
import { ChannelCredentials, experimental, type ChannelOptions } from '@grpc/grpc-js';
import { rolesOf, type ClusterRole } from './cluster-role.ts';

type CallCredentials = ReturnType<experimental.SecureConnector['getCallCredentials']>;

/**
 * Timeout of a handshake. Without it, a peer that hangs or loses its network during a handshake would hold the connection until TCP gives
 * up, after a quarter of an hour.
 */
const HANDSHAKE_TIMEOUT_MS = 5_000;

/** Network failures, which prove nothing about the peer. */
const NETWORK_CODES = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Returns the credentials of a client that talks to peers of one role only. They do not verify the peer's address, which comes from etcd
 * and may be any.
 */
export function roleCredentials(provider: experimental.CertificateProvider, role: ClusterRole): ChannelCredentials {
  return experimental.createCertificateProviderChannelCredentials(provider, provider, {
    checkServerIdentity: (_name, { subjectaltname }) =>
      rolesOf(subjectaltname).includes(role)
        ? undefined
        : new Error(`its certificate is not that of a ${role} (${subjectaltname ?? 'no alternative names'})`),
  });
}

/** Wraps `inner` with a timeout of the handshake; `onUnproven` is called with the reason when a peer answers but cannot prove itself. */
export class ProvenCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #onUnproven: ((reason: string) => void) | undefined;

  constructor(inner: ChannelCredentials, onUnproven?: (reason: string) => void) {
    super();
    this.#inner = inner;
    this.#onUnproven = onUnproven;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return (
      other instanceof ProvenCredentials && this.#onUnproven === other.#onUnproven && this.#inner._equals(other.#inner)
    );
  }

  override _createSecureConnector(
    target: experimental.GrpcUri,
    options: ChannelOptions,
    callCredentials?: CallCredentials,
  ): experimental.SecureConnector {
    const inner = this.#inner._createSecureConnector(target, options, callCredentials);
    return {
      connect: (socket) => this.#connect(inner, socket),
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    };
  }

  async #connect(inner: experimental.SecureConnector, socket: Socket): Promise<experimental.SecureConnectResult> {
    const timer = setTimeout(() => socket.destroy(), HANDSHAKE_TIMEOUT_MS);
    try {
      return await inner.connect(socket);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (message !== 'Socket closed' && !NETWORK_CODES.has(code ?? '')) this.#onUnproven?.(message);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

import { resolve } from 'node:path';
import { experimental, ServerCredentials } from '@grpc/grpc-js';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WatchedFiles } from '#shared/watched-files.ts';
import { parseAuthority, parseIdentity } from './tls-files.ts';

/** The files of a door; without `clientCa` ('') clients need no certificate. */
type DoorPaths = { readonly cert: string; readonly key: string; readonly clientCa: string };

/** The contents of these files, as PEM. */
export type DoorMaterial = {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The authorities of clients; undefined: clients need no certificate. */
  readonly clientCa: Buffer | undefined;
};

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/**
 * The certificate that every door for clients shows. The files are read again while the process runs: a new connection gets what they hold
 * then, an open one stays. Files that do not fit together are not used, and the last ones that did stay.
 */
export class DoorTls implements Disposable {
  readonly #files: WatchedFiles<DoorMaterial>;

  /** @throws INVALID_CONFIGURATION */
  constructor({ cert, key, clientCa }: DoorPaths, config: Config, log: Logger) {
    this.#files = new WatchedFiles({
      paths: [cert, key, ...(clientCa === '' ? [] : [clientCa])].map((path) => resolve(path)),
      parse: (contents) => parseMaterial(contents, { cert, key, clientCa }),
      intervalMs: config['cluster.reload_interval'],
      log,
    });
  }

  get material(): DoorMaterial {
    return this.#files.value;
  }

  /** Calls `listener` with every new material. */
  onChange(listener: (material: DoorMaterial) => void): void {
    this.#files.onChange(listener);
  }

  /** The credentials of a gRPC server. */
  grpcCredentials(): ServerCredentials {
    const identities = new Set<IdentityListener>();
    const authorities = new Set<CaListener>();
    this.#files.onChange(({ cert, key, clientCa }) => {
      if (clientCa !== undefined) for (const listener of authorities) listener({ caCertificate: clientCa });
      for (const listener of identities) listener({ certificate: cert, privateKey: key });
    });
    // grpc-js mistakes an answer within these calls for one that came before them.
    const identity: experimental.CertificateProvider = {
      addIdentityCertificateListener: (listener) => {
        identities.add(listener);
        const { cert, key } = this.material;
        process.nextTick(() => listener({ certificate: cert, privateKey: key }));
      },
      removeIdentityCertificateListener: (listener) => void identities.delete(listener),
      addCaCertificateListener: (listener) => {
        authorities.add(listener);
        const { clientCa } = this.material;
        if (clientCa !== undefined) process.nextTick(() => listener({ caCertificate: clientCa }));
      },
      removeCaCertificateListener: (listener) => void authorities.delete(listener),
    };
    const needsClients = this.material.clientCa !== undefined;
    // grpc-js's names of the first two parameters are the wrong way round.
    return experimental.createCertificateProviderServerCredentials(
      identity,
      needsClients ? identity : null,
      needsClients,
    );
  }

  [Symbol.dispose](): void {
    this.#files[Symbol.dispose]();
  }
}

/** The certificate of the doors; undefined without `coordinator.tls_cert`. @throws INVALID_CONFIGURATION */
export const openDoorTls = (config: Config, log: Logger): DoorTls | undefined =>
  config['coordinator.tls_cert'] === ''
    ? undefined
    : new DoorTls(
        {
          cert: config['coordinator.tls_cert'],
          key: config['coordinator.tls_key'],
          clientCa: config['coordinator.tls_client_ca'],
        },
        config,
        log,
      );

/** The certificate of the REST catalog and its pages; undefined without `catalog.tls_cert`. @throws INVALID_CONFIGURATION */
export const openCatalogTls = (config: Config, log: Logger): DoorTls | undefined =>
  config['catalog.tls_cert'] === ''
    ? undefined
    : new DoorTls({ cert: config['catalog.tls_cert'], key: config['catalog.tls_key'], clientCa: '' }, config, log);

/** Credentials of a door without a certificate; its caller sees to the address on which it listens. */
export const plaintextDoor = (): ServerCredentials => ServerCredentials.createInsecure();

function parseMaterial(
  [cert, key, clientCa]: readonly Buffer[],
  paths: { readonly cert: string; readonly key: string; readonly clientCa: string },
): DoorMaterial {
  if (cert === undefined || key === undefined) throw new SkeinError('INTERNAL_ERROR', 'two files are read');
  if (clientCa !== undefined) parseAuthority(clientCa, paths.clientCa);
  parseIdentity({ cert, key }, paths);
  return { cert, key, clientCa };
}

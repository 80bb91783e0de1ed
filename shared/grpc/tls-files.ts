import { createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { experimental } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WatchedFiles } from '#shared/watched-files.ts';

/** A certificate with its key, and the authorities of the peers: PEM texts that fit together. */
export type TlsMaterial = {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The certificate itself, without its chain. */
  readonly leaf: X509Certificate;
};

export type TlsPaths = { readonly ca: string; readonly cert: string; readonly key: string };

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/**
 * Provides the certificates of gRPC channels from three files that it re-reads while the process runs: a new connection uses their current
 * contents, an open one stays. grpc-js's own file watcher drops the certificates while a file is missing, and takes a certificate whose key
 * has not arrived yet; this one keeps the last three files that fit together.
 */
export class TlsFiles implements experimental.CertificateProvider, Disposable {
  readonly #files: WatchedFiles<TlsMaterial>;
  readonly #ca = new Set<CaListener>();
  readonly #identity = new Set<IdentityListener>();

  /** @throws INVALID_CONFIGURATION */
  constructor(paths: TlsPaths, options: { readonly intervalMs: number; readonly log: Logger }) {
    this.#files = new WatchedFiles({
      ...options,
      paths: [paths.ca, paths.cert, paths.key].map((path) => resolve(path)),
      parse: (contents) => parseMaterial(contents, paths),
    });
    this.#files.onChange(({ ca, cert, key }) => {
      for (const listener of this.#ca) listener({ caCertificate: ca });
      for (const listener of this.#identity) listener({ certificate: cert, privateKey: key });
    });
  }

  get material(): TlsMaterial {
    return this.#files.value;
  }

  // grpc-js mistakes an answer within these calls for one that came before them.
  addCaCertificateListener(listener: CaListener): void {
    this.#ca.add(listener);
    process.nextTick(() => listener({ caCertificate: this.material.ca }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#ca.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identity.add(listener);
    process.nextTick(() => listener({ certificate: this.material.cert, privateKey: this.material.key }));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identity.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#files[Symbol.dispose]();
  }
}

function parseMaterial([ca, cert, key]: readonly Buffer[], paths: TlsPaths): TlsMaterial {
  if (ca === undefined || cert === undefined || key === undefined) throw new Error('three files are read');
  parseAuthority(ca, paths.ca);
  return { ca, cert, key, leaf: parseIdentity({ cert, key }, paths) };
}

/** @throws INVALID_CONFIGURATION unless it is a certificate, as PEM */
export function parseAuthority(ca: Buffer, path: string): void {
  parsed(path, () => new X509Certificate(ca));
}

/** The certificate itself. @throws INVALID_CONFIGURATION when it has expired, or does not fit its key */
export function parseIdentity(
  { cert, key }: Pick<TlsMaterial, 'cert' | 'key'>,
  paths: Pick<TlsPaths, 'cert' | 'key'>,
): X509Certificate {
  const leaf = parsed(paths.cert, () => new X509Certificate(cert));
  const privateKey = parsed(paths.key, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new SkeinError('INVALID_CONFIGURATION', `${paths.key} is not the key of the certificate in ${paths.cert}`);
  }
  if (leaf.validToDate.getTime() < Date.now()) {
    throw new SkeinError('INVALID_CONFIGURATION', `the certificate in ${paths.cert} has expired on ${leaf.validTo}`);
  }
  return leaf;
}

function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new SkeinError('INVALID_CONFIGURATION', `${path} is not valid PEM of its kind`, { cause });
  }
}

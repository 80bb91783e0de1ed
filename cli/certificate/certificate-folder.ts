import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { PRIVATE, PUBLIC, writeCertificateFile } from './certificate-file.ts';
import { isFreshCertificate, issueCertificate, makeAuthority, type IssuedCertificate } from './make-certificate.ts';

/**
 * A folder of certificates:
 * ```
 * ca/ca.pem, ca/ca-key.pem            the authority; its key stays where certificates are made
 * <name>/ca.pem, cert.pem, key.pem    what one service is given, whole
 * ```
 */
export class CertificateFolder {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  /** The authority of the folder; undefined when there is none. */
  authority(): IssuedCertificate | undefined {
    const cert = read(this.path('ca/ca.pem'));
    const key = read(this.path('ca/ca-key.pem'));
    return cert === undefined || key === undefined ? undefined : { cert, key };
  }

  /** Returns the authority of the folder, and creates it when there is none. */
  async ensureAuthority(name: string, days: number): Promise<IssuedCertificate> {
    const found = this.authority();
    if (found !== undefined) return found;
    const made = await makeAuthority(name, days);
    writeCertificateFile(this.path('ca/ca-key.pem'), made.key, PRIVATE);
    writeCertificateFile(this.path('ca/ca.pem'), made.cert, PUBLIC);
    return made;
  }

  /** Issues a certificate in the folder `name`, unless the existing one is still fresh. Returns whether it issued one. */
  async ensureCertificate(
    authority: IssuedCertificate,
    request: {
      readonly roles: readonly ClusterRole[];
      readonly name: string;
      readonly hosts: readonly string[];
      readonly days: number;
    },
    { again = false }: { readonly again?: boolean } = {},
  ): Promise<boolean> {
    const at = (file: string): string => join(this.path(request.name), file);
    const found = read(at('cert.pem'));
    if (
      !again &&
      found !== undefined &&
      read(at('key.pem')) !== undefined &&
      isFreshCertificate(found, authority.cert)
    ) {
      return false;
    }
    const made = await issueCertificate(authority, request);
    // The key is written before the certificate: a service that watches the files reloads when certificate and key match.
    writeCertificateFile(at('key.pem'), made.key, PRIVATE);
    writeCertificateFile(at('cert.pem'), made.cert, PUBLIC);
    writeCertificateFile(at('ca.pem'), authority.cert, PUBLIC);
    return true;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new SkeinError('START_FAILED', `cannot read ${path}: ${code}`, { cause });
  }
}

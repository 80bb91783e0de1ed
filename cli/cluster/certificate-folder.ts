import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';
import { SkeinError } from '#shared/error.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { isFresh, issueCertificate, makeAuthority, type IssuedCertificate } from './make-certificate.ts';

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
    write(this.path('ca/ca-key.pem'), made.key, PRIVATE);
    write(this.path('ca/ca.pem'), made.cert, PUBLIC);
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
    if (!again && found !== undefined && read(at('key.pem')) !== undefined && isFresh(found, authority.cert)) {
      return false;
    }
    const made = await issueCertificate(authority, request);
    // The key is written before the certificate: a service that watches the files reloads when certificate and key match.
    write(at('key.pem'), made.key, PRIVATE);
    write(at('cert.pem'), made.cert, PUBLIC);
    write(at('ca.pem'), authority.cert, PUBLIC);
    return true;
  }
}

const PRIVATE = 0o600;
const PUBLIC = 0o644;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new SkeinError('START_FAILED', `cannot read ${path}: ${code}`, { cause });
  }
}

/** Writes a file atomically, at no time with wider permissions than `mode`. */
function write(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFoldersSync(dirname(path), { mode: 0o700 });
    writeFileSync(temporary, text, { mode, flag: 'wx', flush: true });
    renameSync(temporary, path);
  } catch (cause) {
    throw new SkeinError('START_FAILED', `cannot write ${path}: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

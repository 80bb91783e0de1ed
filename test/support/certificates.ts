import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateFolder } from '#cli/certificate/certificate-folder.ts';
import type { IssuedCertificate } from '#cli/certificate/make-certificate.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';

/** `cluster.tls_*` of one process. */
export type TlsSettings = {
  readonly 'cluster.tls_ca': string;
  readonly 'cluster.tls_cert': string;
  readonly 'cluster.tls_key': string;
};

/** An authority of a test's own, and certificates of it, in a folder that goes with it. */
export class TestCertificates implements AsyncDisposable {
  readonly root: string;
  readonly #folder: CertificateFolder;
  readonly #authority: IssuedCertificate;

  private constructor(root: string, folder: CertificateFolder, authority: IssuedCertificate) {
    this.root = root;
    this.#folder = folder;
    this.#authority = authority;
  }

  static async make(): Promise<TestCertificates> {
    const root = await mkdtemp(join(tmpdir(), 'skein-tls-'));
    const folder = new CertificateFolder(root);
    return new TestCertificates(root, folder, await folder.ensureAuthority('test', 2));
  }

  /** A new certificate in the folder `name`, in the place of one that is there. The roles are those of its holder, one or several. */
  async issue(name: string, roles: readonly ClusterRole[], hosts: readonly string[] = []): Promise<TlsSettings> {
    await this.#folder.ensureCertificate(this.#authority, { name, roles, hosts, days: 1 }, { again: true });
    return {
      'cluster.tls_ca': join(this.root, name, 'ca.pem'),
      'cluster.tls_cert': join(this.root, name, 'cert.pem'),
      'cluster.tls_key': join(this.root, name, 'key.pem'),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

/** Roles of the one certificate with which `skein up` runs all its services. */
export const ALL_ROLES: readonly ClusterRole[] = ['coordinator', 'catalog', 'worker', 'operator'];

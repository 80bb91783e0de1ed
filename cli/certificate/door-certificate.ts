import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import type { Config } from '#shared/config/config-schema.ts';
import { writeCertificateFile, PRIVATE, PUBLIC } from './certificate-file.ts';
import { issueServerCertificate, makeAuthority, type IssuedCertificate } from './make-certificate.ts';

/** Files of `skein up --tls`; clients are given `ca`. */
export type DoorFiles = { readonly ca: string; readonly cert: string; readonly key: string };

/** The authority is made once: clients keep it. */
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 365;
/** A certificate is replaced when so little of its time is left, a short-lived one in the last third of its life. */
const RENEWED_BEFORE_MS = 30 * 86_400_000;

export const doorFiles = (folder: string): DoorFiles => ({
  ca: join(folder, 'ca.pem'),
  cert: join(folder, 'server.pem'),
  key: join(folder, 'server.key'),
});

/** The names by which clients of this machine, and of its network, reach the doors of `skein up`. */
export function doorHosts(config: Config): readonly string[] {
  const { host, 'cluster.advertise_host': advertised } = config;
  const further = [host, advertised].filter((name) => name !== '' && name !== '0.0.0.0' && name !== '::');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...further])];
}

/**
 * Makes an authority in the folder unless it has one, and a certificate for these hosts unless it has one that is good for a month and has
 * all of them.
 * @param options.authorityKey file of the authority's key, in the folder unless it is named @returns whether it made a certificate
 */
export async function ensureDoorCertificate(
  folder: string,
  hosts: readonly string[],
  options: { readonly authorityKey?: string; readonly days?: number; readonly nowMs?: number } = {},
): Promise<boolean> {
  const { authorityKey = join(folder, 'ca.key'), days = CERTIFICATE_DAYS, nowMs = Date.now() } = options;
  const paths = doorFiles(folder);
  const authority = await ensureAuthority(paths.ca, authorityKey);
  const [cert, key] = [read(paths.cert), read(paths.key)];
  if (cert !== undefined && key !== undefined && isGood(cert, authority, { hosts, nowMs })) return false;
  const made = await issueServerCertificate(authority, { hosts, days });
  // The key is written first: a service that watches the files takes them when they fit together.
  writeCertificateFile(paths.key, made.key, PRIVATE);
  writeCertificateFile(paths.cert, made.cert, PUBLIC);
  return true;
}

async function ensureAuthority(path: string, keyPath: string): Promise<IssuedCertificate> {
  const [cert, key] = [read(path), read(keyPath)];
  if (cert !== undefined && key !== undefined) return { cert, key };
  const made = await makeAuthority('skein doors', AUTHORITY_DAYS);
  writeCertificateFile(keyPath, made.key, PRIVATE);
  writeCertificateFile(path, made.cert, PUBLIC);
  return made;
}

function isGood(
  cert: string,
  authority: IssuedCertificate,
  { hosts, nowMs }: { readonly hosts: readonly string[]; readonly nowMs: number },
): boolean {
  const leaf = new X509Certificate(cert);
  const endMs = leaf.validToDate.getTime();
  const names = new Set(leaf.subjectAltName?.split(', ').map((name) => name.replace(/^(DNS|IP Address):/, '')));
  return (
    leaf.verify(new X509Certificate(authority.cert).publicKey) &&
    endMs - nowMs > Math.min(RENEWED_BEFORE_MS, (endMs - leaf.validFromDate.getTime()) / 3) &&
    hosts.every((host) => names.has(host) || (host === '::1' && names.has('0:0:0:0:0:0:0:1')))
  );
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

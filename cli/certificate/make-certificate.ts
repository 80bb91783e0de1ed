// The library that makes certificates resolves its parts by decorators, which need this.
import 'reflect-metadata';
import { isIP } from 'node:net';
import { webcrypto, X509Certificate as ParsedCertificate } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
  type JsonGeneralName,
  type Name,
} from '@peculiar/x509';
import { roleUri, type ClusterRole } from '#shared/grpc/cluster-role.ts';
import { must } from '#shared/must.ts';

cryptoProvider.set(webcrypto);

/** A certificate and its private key (PKCS #8), as PEM texts. */
export type IssuedCertificate = { readonly cert: string; readonly key: string };

export type CertificateRequest = {
  /** Roles of the holder; the first is the common name, by which etcd identifies its users. */
  readonly roles: readonly ClusterRole[];
  readonly name: string;
  /** Names and addresses under which it is reached; needed only where clients compare them, as etcd's do. */
  readonly hosts: readonly string[];
  readonly days: number;
};

const KEY = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** Certificates are valid from this long ago, because the clocks of machines differ. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** Creates an authority (EC P-256), which signs the certificates of one cluster but no further authorities. */
export async function makeAuthority(name: string, days: number): Promise<IssuedCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`${name} authority`] }],
    serialNumber: serialNumber(),
    ...validity(days),
    signingAlgorithm: KEY,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: pem(certificate), key: await keyPem(keys.privateKey) };
}

/** Issues a certificate signed by `authority`, for both server and client use, because members of a cluster are both. */
export function issueCertificate(
  authority: IssuedCertificate,
  { roles, name, hosts, days }: CertificateRequest,
): Promise<IssuedCertificate> {
  const uris = roles.map((role): JsonGeneralName => ({ type: 'url', value: roleUri(role, name) }));
  return issue(authority, {
    subject: [{ CN: [must(roles[0], 'a role')] }, { OU: [name] }],
    usage: [ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth],
    names: [...uris, ...hosts.map(hostName)],
    days,
  });
}

/** Issues a certificate of a server that clients know by its hosts. */
export function issueServerCertificate(
  authority: IssuedCertificate,
  { hosts, days }: { readonly hosts: readonly string[]; readonly days: number },
): Promise<IssuedCertificate> {
  const subject = [{ CN: [must(hosts[0], 'a host')] }];
  return issue(authority, { subject, usage: [ExtendedKeyUsage.serverAuth], names: hosts.map(hostName), days });
}

/** Issues a certificate of somebody who shows it to servers. */
export function issueClientCertificate(
  authority: IssuedCertificate,
  { name, days }: { readonly name: string; readonly days: number },
): Promise<IssuedCertificate> {
  return issue(authority, { subject: [{ CN: [name] }], usage: [ExtendedKeyUsage.clientAuth], names: [], days });
}

type Issue = {
  readonly subject: ReturnType<Name['toJSON']>;
  readonly usage: readonly ExtendedKeyUsage[];
  readonly names: readonly JsonGeneralName[];
  readonly days: number;
};

async function issue(authority: IssuedCertificate, { subject, usage, names, days }: Issue): Promise<IssuedCertificate> {
  const issuer = new X509Certificate(authority.cert);
  const [pkcs8] = PemConverter.decode(authority.key);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', must(pkcs8, 'a key in PEM'), KEY, false, ['sign']);
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: issuer.subjectName,
    serialNumber: serialNumber(),
    ...validity(days),
    signingAlgorithm: KEY,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([...usage]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return { cert: pem(certificate), key: await keyPem(keys.privateKey) };
}

/** Whether at least a third of a certificate's lifetime remains, and one of the authorities has signed it. */
export function isFreshCertificate(cert: string, authority: string): boolean {
  const leaf = new ParsedCertificate(cert);
  const { publicKey } = new ParsedCertificate(authority);
  const left = leaf.validToDate.getTime() - Date.now();
  return leaf.verify(publicKey) && left > (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / 3;
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> => webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);

const hostName = (host: string): JsonGeneralName =>
  isIP(host) === 0 ? { type: 'dns', value: host } : { type: 'ip', value: host };

function validity(days: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - CLOCKS_DIFFER_MS), notAfter: new Date(now + days * DAY_MS) };
}

/** 127 random bits: positive, and never 0. */
const serialNumber = (): string => {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
};

const pem = (certificate: X509Certificate): string => `${certificate.toString('pem')}\n`;

const keyPem = async (key: webcrypto.CryptoKey): Promise<string> =>
  `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`;

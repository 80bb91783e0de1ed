import { join, resolve } from 'node:path';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { clusterRole, isCertificateName, CLUSTER_ROLES, type ClusterRole } from '#shared/grpc/cluster-role.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { ensureSecretFile } from '#shared/secret-file.ts';
import { ensureDoorCertificate } from '../certificate/door-certificate.ts';
import { CertificateFolder } from '../certificate/certificate-folder.ts';

const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 365;
const DAYS_MAX = 36_500;
/** Names of the doors on their own machine. */
const DOOR_HOSTS = ['localhost', '127.0.0.1', '::1'];
/** Host names of etcd in `docker-compose.yml` and on its own machine. */
const ETCD_HOSTS = ['etcd', 'localhost', '127.0.0.1'];

/**
 * `skein cluster ca`: creates an authority, a certificate for each role, another authority with a certificate for the doors of clients, a
 * secret, and the key of stored secrets. Existing files that are still valid for a while are
 * kept, so the command may run at every start of a cluster. It renews certificates in the last third of their lifetime.
 */
export async function clusterCa({ config }: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const root = rootOf(config.data_dir, flags);
  const folder = new CertificateFolder(root);
  const authority = await folder.ensureAuthority(nameOf(flags, 'skein'), daysOf(flags, 'days', AUTHORITY_DAYS));
  const days = daysOf(flags, 'cert-days', CERTIFICATE_DAYS);
  for (const role of CLUSTER_ROLES) {
    const hosts = role === 'etcd' ? [...ETCD_HOSTS, ...flags.texts('etcd-host')] : [];
    const made = await folder.ensureCertificate(authority, { roles: [role], name: role, hosts, days });
    say(`${folder.path(role)}: ${made ? 'made' : 'kept'}`);
  }
  const doorHosts = [...DOOR_HOSTS, ...flags.texts('door-host')];
  const authorityKey = join(root, 'ca', 'doors-key.pem');
  const made = await ensureDoorCertificate(folder.path('doors'), doorHosts, { authorityKey, days });
  say(`${folder.path('doors')}: ${made ? 'made' : 'kept'}`);
  const secretFile = join(root, 'secret', 'cluster-secret');
  ensureSecretFile(secretFile);
  say(`${secretFile}: the secret of the cluster (cluster.secret_file)`);
  const keyFile = join(root, 'secrets-key', 'secrets-key');
  ensureSecretFile(keyFile);
  say(`${keyFile}: the key of stored secrets, for catalogs alone (cluster.secrets_key_file)`);
  return EXIT.ok;
}

/** `skein cluster cert`: issues one more certificate, or replaces an old one. */
export async function clusterCert({ config }: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const root = rootOf(config.data_dir, flags);
  const folder = new CertificateFolder(root);
  const authority = folder.authority();
  if (authority === undefined) {
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      `no authority in ${root}; make one with: skein cluster ca --out ${root}`,
    );
  }
  const roles = flags.texts('role').map(roleOf);
  if (roles.length === 0) throw new UsageError(`--role is needed: ${CLUSTER_ROLES.join(', ')}`);
  const name = nameOf(flags, roles[0] ?? '');
  if (['ca', 'secret', 'secrets-key', 'doors'].includes(name))
    throw new UsageError(`--name ${name}: that folder is taken`);
  const days = daysOf(flags, 'days', CERTIFICATE_DAYS);
  await folder.ensureCertificate(authority, { roles, name, hosts: flags.texts('host'), days }, { again: true });
  say(`${folder.path(name)}: made`);
  return EXIT.ok;
}

const rootOf = (dataDir: string, flags: Flags): string => resolve(flags.text('out') ?? join(dataDir, 'tls'));

function roleOf(text: string): ClusterRole {
  try {
    return clusterRole(text);
  } catch (error) {
    throw new UsageError(`--role: ${SkeinError.of(error).message}`);
  }
}

function nameOf(flags: Flags, fallback: string): string {
  const name = flags.text('name') ?? fallback;
  if (!isCertificateName(name)) throw new UsageError('--name: expected letters, digits, ., _ and -, at most 63');
  return name;
}

function daysOf(flags: Flags, flag: string, fallback: number): number {
  const text = flags.text(flag);
  if (text === undefined) return fallback;
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > DAYS_MAX)
    throw new UsageError(`--${flag}: expected 1 to ${DAYS_MAX}`);
  return days;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

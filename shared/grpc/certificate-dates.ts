import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config, ConfigKey } from '#shared/config/config-schema.ts';

/** When a certificate of a process ends; `use` says what it is for. */
export type CertificateDate = { readonly use: string; readonly endsMs: number };

const FILES = [
  ['cluster', 'cluster.tls_cert'],
  ['cluster authority', 'cluster.tls_ca'],
  ['etcd', 'cluster.etcd_tls_cert'],
  ['etcd authority', 'cluster.etcd_tls_ca'],
  ['clients', 'coordinator.tls_cert'],
  ['catalog', 'catalog.tls_cert'],
] as const satisfies readonly (readonly [string, ConfigKey])[];

/** The ends of the certificates that are configured; one that cannot be read is left out. */
export function certificateDates(config: Config): readonly CertificateDate[] {
  return FILES.flatMap(([use, key]) => {
    const path = config[key];
    if (path === '') return [];
    try {
      return [{ use, endsMs: new X509Certificate(readFileSync(path)).validToDate.getTime() }];
    } catch {
      return [];
    }
  });
}

import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { TlsFiles } from '#shared/grpc/tls-files.ts';
import type { Candidate, Election, Fitness, Lead, LeadProof } from './election.ts';
import type { EtcdOptions } from './etcd-membership.ts';
import type { Member, Membership } from './member.ts';
import { soleCandidate } from './sole-candidate.ts';
import { staticMembership } from './static-membership.ts';

/** The etcd client takes a quarter of a second to load, so it is loaded only where it is used. */

/** Opens the configured membership: etcd when `cluster.etcd_endpoints` names one, otherwise the static list. */
export async function openMembership(config: Config, log: Logger): Promise<Membership> {
  if (config['cluster.etcd_endpoints'].length === 0) return staticMembership(config['cluster.workers']);
  const { etcdMembership } = await import('./etcd-membership.ts');
  return closingTls(etcdOptions(config, log), etcdMembership);
}

/** Registers this process; without etcd there is nothing to do (the other processes have it in their configuration). */
export async function registerMember(config: Config, member: Member, log: Logger): Promise<{ close(): Promise<void> }> {
  if (config['cluster.etcd_endpoints'].length === 0) return { close: () => Promise.resolve() };
  const { etcdRegistration } = await import('./etcd-membership.ts');
  return closingTls(etcdOptions(config, log), (options) => etcdRegistration(options, member));
}

type Candidacy = {
  readonly candidate: Candidate;
  readonly proof: LeadProof;
  readonly fitness: Fitness;
  readonly lead: Lead;
};

/** Makes a process a candidate among the coordinators; without etcd it is the only one, and leads from the start. */
export async function openElection(
  config: Config,
  { candidate, proof, fitness, lead }: Candidacy,
  log: Logger,
): Promise<Election> {
  if (config['cluster.etcd_endpoints'].length === 0) return soleCandidate(lead, proof);
  const { etcdElection } = await import('./etcd-election.ts');
  return closingTls(etcdOptions(config, log), (etcd) =>
    etcdElection({ etcd, name: 'coordinator', candidate, proof, fitness }, lead),
  );
}

/** Returns endpoints and credentials of etcd; the caller closes `tls`. @throws INVALID_CONFIGURATION */
export const etcdOptions = (config: Config, log: Logger): EtcdOptions => ({
  endpoints: config['cluster.etcd_endpoints'],
  prefix: config['cluster.etcd_prefix'],
  leaseTtlMs: config['cluster.lease_ttl'],
  log,
  tls: config['cluster.etcd_endpoints'].some((endpoint) => endpoint.startsWith('https://'))
    ? new TlsFiles(
        {
          ca: config['cluster.etcd_tls_ca'] || config['cluster.tls_ca'],
          cert: config['cluster.etcd_tls_cert'] || config['cluster.tls_cert'],
          key: config['cluster.etcd_tls_key'] || config['cluster.tls_key'],
        },
        { intervalMs: config['cluster.reload_interval'], log },
      )
    : undefined,
});

/** Wraps a user of etcd so that its `close` also stops following the certificates. */
function closingTls<T extends { close(): Promise<void> }>(options: EtcdOptions, open: (options: EtcdOptions) => T): T {
  const opened = open(options);
  const close = opened.close.bind(opened);
  return Object.assign(opened, {
    close: async () => {
      await close();
      options.tls?.[Symbol.dispose]();
    },
  });
}

import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Election, Lead } from './election.ts';
import type { EtcdOptions } from './etcd-membership.ts';
import type { Member, Membership } from './member.ts';
import { soleCandidate } from './sole-candidate.ts';
import { staticMembership } from './static-membership.ts';

/*
 * The etcd client costs a quarter of a second to load, so it is loaded only where it is used.
 */

/** Membership as configured: etcd when `cluster.etcd_endpoints` names one, else the static list. */
export async function openMembership(config: Config, log: Logger): Promise<Membership> {
  if (config['cluster.etcd_endpoints'].length === 0) return staticMembership(config['cluster.workers']);
  const { etcdMembership } = await import('./etcd-membership.ts');
  return etcdMembership(etcdOptions(config, log));
}

/** Makes this process known; without etcd there is nothing to do (the others have it in their configuration). */
export async function registerMember(config: Config, member: Member, log: Logger): Promise<{ close(): Promise<void> }> {
  if (config['cluster.etcd_endpoints'].length === 0) return { close: () => Promise.resolve() };
  const { etcdRegistration } = await import('./etcd-membership.ts');
  return etcdRegistration(etcdOptions(config, log), member);
}

/** The candidate `id` among the coordinators: without etcd it is the only one, and leads from the start. */
export async function openElection(config: Config, id: string, lead: Lead, log: Logger): Promise<Election> {
  if (config['cluster.etcd_endpoints'].length === 0) return soleCandidate(lead);
  const { etcdElection } = await import('./etcd-election.ts');
  return etcdElection(etcdOptions(config, log), 'coordinator', id, lead);
}

const etcdOptions = (config: Config, log: Logger): EtcdOptions => ({
  endpoints: config['cluster.etcd_endpoints'],
  prefix: config['cluster.etcd_prefix'],
  leaseTtlMs: config['cluster.lease_ttl'],
  log,
});

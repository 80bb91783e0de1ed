import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { etcdMembership, etcdRegistration, type EtcdOptions } from './etcd-membership.ts';
import type { Member, Membership } from './member.ts';
import { staticMembership } from './static-membership.ts';

/** Membership as configured: etcd when `cluster.etcd_endpoints` names one, else the static list. */
export function openMembership(config: Config, log: Logger): Membership {
  return config['cluster.etcd_endpoints'].length > 0
    ? etcdMembership(etcdOptions(config, log))
    : staticMembership(config['cluster.workers']);
}

/** Makes this process known; without etcd there is nothing to do (the others have it in their configuration). */
export function registerMember(config: Config, member: Member, log: Logger): { close(): Promise<void> } {
  return config['cluster.etcd_endpoints'].length > 0
    ? etcdRegistration(etcdOptions(config, log), member)
    : { close: () => Promise.resolve() };
}

const etcdOptions = (config: Config, log: Logger): EtcdOptions => ({
  endpoints: config['cluster.etcd_endpoints'],
  prefix: config['cluster.etcd_prefix'],
  leaseTtlMs: config['cluster.lease_ttl'],
  log,
});

import { SkeinError } from '#shared/error.ts';

/** Roles of the cluster's processes. An operator is a user of the `skein` commands; etcd is listed so that it can have a certificate. */
export const CLUSTER_ROLES = ['catalog', 'coordinator', 'worker', 'operator', 'etcd'] as const;
export type ClusterRole = (typeof CLUSTER_ROLES)[number];

const ROLE_URI = /^URI:spiffe:\/\/skein\/([a-z]+)\/([A-Za-z0-9._-]+)$/;

/** Whether a name may be part of a certificate; no allowed character is special in a certificate's text form. */
export const isCertificateName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name);

/** Returns the URI by which a certificate grants its holder the role. A certificate may hold several. */
export const roleUri = (role: ClusterRole, name: string): string => `spiffe://skein/${role}/${name}`;

/**
 * Returns the roles that a certificate grants, from its alternative names as Node prints them (`URI:..., DNS:...`). Node quotes a name that
 * contains a comma, so one entry cannot look like two.
 */
export function rolesOf(subjectAltName: string | undefined): readonly ClusterRole[] {
  const found = (subjectAltName ?? '').split(', ').map((entry) => ROLE_URI.exec(entry)?.[1]);
  return CLUSTER_ROLES.filter((role) => found.includes(role));
}

/** @throws INVALID_CONFIGURATION */
export function clusterRole(text: string): ClusterRole {
  const role = CLUSTER_ROLES.find((one) => one === text);
  if (role !== undefined) return role;
  throw new SkeinError('INVALID_CONFIGURATION', `role ${text}: expected one of ${CLUSTER_ROLES.join(', ')}`);
}

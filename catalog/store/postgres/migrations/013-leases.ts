/** The catalog processes whose coordinators hold leases on what they were told (`catalog/lease`). */
export const LEASE_MIGRATION: readonly string[] = [
  `create table catalog.cache_lease (
    process uuid primary key,
    lease_ms integer not null,
    expires_at timestamptz not null
  )`,
];

/** An OAuth client may belong to a service account that was there before it: then the account stays when the client goes. */
export const ATTACHED_CLIENTS_MIGRATION: readonly string[] = [
  `alter table catalog.oauth_client add column made_account boolean not null default true`,
];

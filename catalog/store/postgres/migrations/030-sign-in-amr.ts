/** How the person of a sign-in by browser has proven himself, by the names of RFC 8176: its tokens say so. */
export const SIGN_IN_AMR_MIGRATION: readonly string[] = [
  `alter table catalog.browser_sign_in add amr text[] not null default '{pwd}'`,
];

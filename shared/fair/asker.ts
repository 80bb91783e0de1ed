/** The user on whose behalf something waits or runs. */
export type Asker = { readonly tenant: string; readonly principal: string };

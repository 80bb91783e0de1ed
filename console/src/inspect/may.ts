/** Why the reader may not do an action; undefined: the server allows it, which decides anew when it is done. */
export const refusalOf = (actions: readonly string[], action: string): string | undefined =>
  actions.includes(action) ? undefined : `Your token does not allow ${action}: an administrator can grant it.`;

import type { Action, Decision } from '#shared/authorization/action.ts';

/** Decisions of a catalog that allows these actions and no other. */
export const allowing = (...actions: readonly Action[]): ReadonlyMap<string, Decision> =>
  new Map(actions.map((action) => [action, { allowed: true }]));

import type { ReactNode } from 'react';
import type { ApiError } from '../api/call.ts';

/** Leads from a coordinator that stands by to the console of the one that leads. */
export function LeaderLink({ error }: { readonly error: ApiError }): ReactNode {
  if (error.leader === undefined) return null;
  return <a href={`${error.leader}/console/`}>Go to the coordinator that leads</a>;
}

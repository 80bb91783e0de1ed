import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { call, callJson, type ApiError } from './call.ts';

/** The signed-in principal, as `GET /api/whoami` answers. */
export type Whoami = {
  readonly user_id: string;
  readonly username: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly privileges: readonly string[];
  readonly actions: readonly string[];
  readonly auth_method: string;
  readonly expires_at: string;
};

export const useWhoami = (): UseQueryResult<Whoami, ApiError> =>
  useQuery<Whoami, ApiError>({
    queryKey: ['whoami'],
    queryFn: () => redeemed().then(() => callJson<Whoami>('/api/whoami')),
  });

/** Redeems the code of the link that the page was opened by, once, and takes it out of the address. */
async function redeemed(): Promise<void> {
  const code = /^#code=(.+)$/.exec(globalThis.location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, '', globalThis.location.pathname);
  await call('/api/console/session', { method: 'POST', body: { code } });
}

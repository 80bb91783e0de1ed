import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { WhoamiEntry } from '#coordinator/api/http/api-types.ts';
import { call, callJson, type ApiError } from './call.ts';

export const useWhoami = (): UseQueryResult<WhoamiEntry, ApiError> =>
  useQuery<WhoamiEntry, ApiError>({
    queryKey: ['whoami'],
    queryFn: () => redeemed().then(() => callJson<WhoamiEntry>('/api/whoami')),
  });

/** Redeems the code of the link that the page was opened by, once, and takes it out of the address. */
async function redeemed(): Promise<void> {
  const code = /^#code=(.+)$/.exec(globalThis.location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, '', globalThis.location.pathname);
  await call('/api/console/session', { method: 'POST', body: { code } });
}

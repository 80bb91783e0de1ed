import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { callJson, type ApiError } from '../api/call.ts';
import { apiPath } from './catalog-place.ts';
import type { ObjectPath } from './statements.ts';

/** Asks something about an object. @param part `details`, `files?ref=june` */
export const useObject = <T>(
  kind: 'tables' | 'views',
  { catalog, schema, name }: ObjectPath,
  part: string,
): UseQueryResult<T, ApiError> =>
  useQuery<T, ApiError>({
    queryKey: ['object', catalog, schema, name, part],
    queryFn: () => {
      const path = `${apiPath(catalog, schema)}/${kind}/${encodeURIComponent(name)}`;
      return callJson<T>(part === '' ? path : `${path}/${part}`);
    },
  });

import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { PrincipalKind } from './administer-operations.ts';

type ListRequest = {
  readonly search?: string;
  readonly status?: string;
  readonly role?: string;
  readonly privilege?: Privilege;
  readonly of?: string;
  readonly after?: string;
  readonly limit: number;
};

type Listed = Pick<PrincipalAnswer, 'columns' | 'rows' | 'next'>;
type Ask = (statement: PrincipalRequest) => Promise<PrincipalAnswer>;

/** A page of a list of SHOW. @throws FORBIDDEN, INVALID_REQUEST, PRINCIPAL_NOT_FOUND */
export async function listPrincipals(kind: PrincipalKind, request: ListRequest, ask: Ask): Promise<Listed> {
  const { search, status, role, privilege, of, after, limit } = request;
  if (status !== undefined && kind !== 'users') throw new SkeinError('INVALID_REQUEST', 'only users have a status');
  if ((role ?? privilege) !== undefined && kind !== 'users' && kind !== 'service-accounts')
    throw new SkeinError('INVALID_REQUEST', 'only users and service accounts hold a role or a privilege');
  const page = { after: after ?? null, limit };
  const found = {
    ...(search === undefined ? {} : { search }),
    ...(role === undefined ? {} : { role }),
    ...(privilege === undefined ? {} : { privilege }),
  };
  switch (kind) {
    case 'users':
      return listed(await ask({ kind: 'show_users', like: null, status: status ?? null, ...found, ...page }));
    case 'service-accounts':
      return listed(await ask({ kind: 'show_accounts', ...found, ...page }));
    case 'webhook-deliveries':
      return listed(await ask({ kind: 'show_webhook_deliveries', webhook: of ?? null, ...page }));
    case 'roles':
      return pageOfAll(await ask({ kind: 'show_roles' }), request);
    case 'tokens':
      return pageOfAll(await ask({ kind: 'show_tokens', owner: of ?? null }), request);
    case 'webhooks':
      return pageOfAll(await ask({ kind: 'show_webhooks' }), request);
    default:
      return unreachable(kind);
  }
}

const listed = ({ columns, rows, next }: PrincipalAnswer): Listed => ({ columns, rows, next });

/** A page of a list that the catalog tells whole. Its first column is the name, by which it is searched and paged. */
function pageOfAll({ columns, rows }: PrincipalAnswer, { search, after, limit }: ListRequest): Listed {
  const part = foldIdentifier(search ?? '');
  const found = rows.filter(([name]) => foldIdentifier(name ?? '').includes(part));
  const start = after === undefined ? 0 : found.findIndex(([name]) => name === after) + 1;
  if (after !== undefined && start === 0)
    throw new SkeinError('INVALID_REQUEST', 'after must be `next` of the page before');
  const page = found.slice(start, start + limit);
  return { columns, rows: page, next: start + limit < found.length ? (page.at(-1)?.[0] ?? null) : null };
}

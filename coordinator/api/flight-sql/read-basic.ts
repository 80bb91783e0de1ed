import { SkeinError } from '#shared/error.ts';

/** User and password of `Basic`; clients pad base64 or not. @throws UNAUTHENTICATED */
export function readBasic(credentials: string): { readonly user: string; readonly password: string } {
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) throw new SkeinError('UNAUTHENTICATED', 'the header authorization is not that of Basic');
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

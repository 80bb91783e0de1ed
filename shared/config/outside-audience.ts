/** An audience that belongs to the tenant whose name it holds, and to no other. */
const OWN_PREFIX = 'skein:';

type OutsideAudience = { readonly tenant: string; readonly audience: string };

/** An entry of `catalog.outside_audiences`, `<tenant>=<audience>`; undefined for any other text. */
function parseAudience(text: string): OutsideAudience | undefined {
  const [, tenant = '', audience = ''] = /^([^=\s]+)=(\S+)$/.exec(text) ?? [];
  return tenant === '' || audience.startsWith(OWN_PREFIX) ? undefined : { tenant, audience };
}

/** The first entry that is none, or names an audience again: it would be two tenants' at once. */
export function unfitAudience(entries: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return entries.find((text) => {
    const parsed = parseAudience(text);
    if (parsed === undefined || seen.has(parsed.audience)) return true;
    seen.add(parsed.audience);
    return false;
  });
}

/** Whether tokens with this audience may sign in to the tenant: it holds its name, or the operator has allowed it. */
export function isAudienceOf(tenant: string, audience: string, allowed: readonly string[]): boolean {
  if (audience.startsWith(OWN_PREFIX)) return audience === `${OWN_PREFIX}${tenant}`;
  return allowed.some((text) => {
    const parsed = parseAudience(text);
    return parsed?.audience === audience && parsed.tenant === tenant;
  });
}

import type { TrustCondition } from '#shared/principal/principal-request.ts';

/**
 * Whether the claims of a token meet all conditions of a trust: each is equal to a claim, or, with LIKE, the beginning before a `*` at the
 * end. Claims are texts, or numbers and booleans as JSON has them; a list or an object meets nothing.
 */
export const meetsConditions = (
  claims: Readonly<Record<string, unknown>>,
  conditions: readonly TrustCondition[],
): boolean =>
  conditions.length > 0 &&
  conditions.every(({ claim, operator, value }) => {
    const shown = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (typeof shown !== 'string' && typeof shown !== 'number' && typeof shown !== 'boolean') return false;
    const text = String(shown);
    return operator === '=' ? text === value : text.startsWith(value.slice(0, -1));
  });

/** The facts about its reader that a policy's body goes by. */
type AskedOf = {
  /** Roles whose holders it treats by themselves. */
  readonly roles: readonly string[];
  /** The other facts, in words. */
  readonly facts: readonly string[];
};

const FACTS = [
  [/\bcurrent_user\s*\(/i, 'the name of its reader'],
  [/\bcurrent_role\s*\(/i, 'the role of its reader'],
  [/\bcurrent_tenant\s*\(/i, 'the organisation of its reader'],
  [/\bselect\b/i, 'rows of the tables that it reads'],
] as const;

/** Reads a body. A role that it computes, in place of naming it, is told as such. */
export function askedOf(body: string): AskedOf {
  const calls = [...body.matchAll(/\bis_role_in_session\s*\(\s*('(?:[^']|'')*')?/gi)].map(([, role]) => role);
  const named = calls.filter((role) => role !== undefined).map((role) => role.slice(1, -1).replaceAll("''", "'"));
  return {
    roles: [...new Set(named)].toSorted(),
    facts: [
      ...FACTS.filter(([pattern]) => pattern.test(body)).map(([, words]) => words),
      ...(named.length < calls.length ? ['roles whose names it computes'] : []),
    ],
  };
}

import type { Group, GroupQuery } from './group.ts';

/** A group below another, or the other's own queue. */
export type Member = Group | { readonly own: Group };

/** Orders the members of a group: below soft concurrency first, then by running / weight if that counts, then by turn. */
export function memberOrder(a: Member, b: Member, isWeighted: boolean): number {
  const [first, second] = [standing(a), standing(b)];
  return (
    Number(first.isAboveSoft) - Number(second.isAboveSoft) ||
    (isWeighted ? first.load - second.load : 0) ||
    first.since - second.since
  );
}

/** The own queries of a group have the default weight. */
const OWN_WEIGHT = 1;

function standing(member: Member): { readonly isAboveSoft: boolean; readonly load: number; readonly since: number } {
  if ('own' in member) {
    const { ownRunning, ownSince } = member.own;
    return { isAboveSoft: false, load: ownRunning / OWN_WEIGHT, since: ownSince ?? 0 };
  }
  const { running, spec, since } = member;
  return {
    isAboveSoft: running >= spec.softConcurrencyLimit,
    load: running / spec.schedulingWeight,
    since: since ?? 0,
  };
}

/** Orders queries: the oldest first, or the one of highest priority and then the oldest. */
export const goesBefore = (a: GroupQuery, b: GroupQuery, byPriority: boolean): boolean =>
  byPriority && a.priority !== b.priority ? a.priority > b.priority : a.sequence < b.sequence;

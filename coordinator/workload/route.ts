import { expandName, isTemplate, type RoutingRule } from './workload.ts';

/** The properties of a statement that routing rules match. */
export type RoutedStatement = {
  readonly tenant: string;
  /** Stable id of the principal; rules may name it or the username. */
  readonly principal: string;
  readonly username: string;
  readonly source: string | null;
  readonly resourcePool: string;
  readonly queryType: string;
};

/** One step of a path from the root: a group of the file, or one that is made from a template of it. */
export type PathStep = {
  /** The group's name in the file. */
  readonly spec: string;
  /** The name with its variables replaced; the same as `spec` without variables. */
  readonly name: string;
};

export type Route = {
  readonly path: readonly PathStep[];
  /** Priority that the rule gives; null = that of the query's class. */
  readonly priority: number | null;
  /** Number of the rule, from 1; null = none matched, and the query goes to the root. */
  readonly rule: number | null;
};

/** The value of `${SOURCE}` for a statement without a source. */
const NO_SOURCE = 'none';

/** Finds the group of a statement: the target of the first rule that matches, or else the root. */
export function route(rules: readonly RoutingRule[], statement: RoutedStatement): Route {
  const index = rules.findIndex((rule) => matches(rule, statement));
  const rule = rules[index];
  if (rule === undefined) return { path: [{ spec: 'root', name: 'root' }], priority: null, rule: null };
  const values = {
    TENANT: statement.tenant,
    USER: statement.username,
    SOURCE: statement.source ?? NO_SOURCE,
  };
  const path = rule.target.map((spec) => ({ spec, name: isTemplate(spec) ? expandName(spec, values) : spec }));
  return { path, priority: rule.priority, rule: index + 1 };
}

const matches = (rule: RoutingRule, one: RoutedStatement): boolean =>
  fits(rule.tenant, one.tenant) &&
  (fits(rule.user, one.principal) || fits(rule.user, one.username)) &&
  fits(rule.source, one.source) &&
  fits(rule.resourcePool, one.resourcePool) &&
  fits(rule.queryType, one.queryType);

const fits = (wanted: string | null, value: string | null): boolean => wanted === null || wanted === value;

/** A time series that a PromQL expression reads, and the labels by which it filters it. */
export type Selector = { readonly metric: string; readonly labels: readonly string[] };

/** The metrics that an expression reads, and the labels by which it groups. */
export type Expression = { readonly selectors: readonly Selector[]; readonly groupedBy: readonly string[] };

const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^()]*)\)/g;
/** A name, perhaps with filters; a function or aggregation is followed by a bracket. */
const SELECTOR = /([a-z_:][a-z0-9_:]*)\s*(\{[^{}]*\})?(?!\s*[a-z0-9_:(])/gi;
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'bool']);

/** Reads the parts of PromQL that dashboards and alerts here use: no subqueries, no offsets. */
export function readPromql(text: string): Expression {
  const groupedBy = [...text.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
  const withoutRanges = text.replaceAll(GROUPING, ' ').replaceAll(/\[[^[\]]*\]/g, ' ');
  const selectors = [...withoutRanges.matchAll(SELECTOR)].flatMap(([, metric = '', filters = '']) => {
    if (WORDS.has(metric)) return [];
    const labels = [...filters.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    return [{ metric, labels }];
  });
  return { selectors, groupedBy };
}

/** The labels of every metric of a Prometheus page, those without samples included. */
export function readPage(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const metrics = new Map<string, Set<string>>();
  for (const line of page.split('\n')) {
    const [, name, labels = ''] = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? \S+$/i.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label);
    metrics.set(name, known);
  }
  return metrics;
}

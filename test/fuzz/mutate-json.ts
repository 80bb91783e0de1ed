import type { Json, JsonObject } from '#shared/json.ts';
import type { Random } from './random.ts';

const CHANGES_MAX = 4;
const ODD_VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 31,
  2 ** 53,
  '',
  'a',
  '\ud800',
  '__proto__',
  'x'.repeat(3_000),
  [],
  {},
  [[]],
  [null],
  { type: 'struct', fields: [] },
  'decimal(99999999999, 3)',
  'fixed[999999999999]',
  'bucket[0]',
  'truncate[99999999999]',
];

/** Changes, removes, repeats or moves some values of a document; returns its text, whose numbers are plain. */
export function mutateJson(random: Random, document: Json): Buffer {
  let mutated = document;
  for (let left = 1 + random.below(CHANGES_MAX); left > 0; left--) mutated = change(random, mutated, document);
  return Buffer.from(JSON.stringify(mutated) ?? 'null');
}

function change(random: Random, value: Json, document: Json): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.1)) return another(random, value, document);
  if (Array.isArray(value)) return changeList(random, value as readonly Json[], document);
  const entries = Object.entries(value as JsonObject);
  const at = random.below(entries.length);
  const [key = 'a', inner = null] = entries[at] ?? [];
  if (random.chance(0.1)) return Object.fromEntries(entries.filter((_, i) => i !== at));
  return { ...(value as JsonObject), [random.chance(0.03) ? 'constructor' : key]: change(random, inner, document) };
}

function changeList(random: Random, list: readonly Json[], document: Json): Json {
  const at = random.below(list.length + 1);
  if (list.length > 0 && random.chance(0.7)) {
    return list.map((one, i) => (i === at % list.length ? change(random, one, document) : one));
  }
  const added = list[at] ?? part(random, document);
  return [
    ...list.slice(0, at),
    ...Array.from({ length: random.below(4) }, () => added),
    ...list.slice(at + random.below(2)),
  ];
}

function another(random: Random, value: Json, document: Json): Json {
  if (random.chance(0.3)) return part(random, document);
  if (typeof value === 'number' && random.chance(0.5)) return value + random.pick([-1, 1, 0.5, 2 ** 31, 1e300]);
  if (typeof value === 'string' && random.chance(0.5))
    return value + random.pick(['x', '/..', '/../../etc', '\0', ')', ']', '9']);
  return random.chance(0.05) ? deep(random.below(400)) : random.pick(ODD_VALUES);
}

/** Some value inside of a document. */
function part(random: Random, document: Json): Json {
  if (typeof document !== 'object' || document === null || random.chance(0.2)) return document;
  const values = Object.values(document) as readonly Json[];
  return values.length === 0 ? document : part(random, random.pick(values.map((value) => [value]))[0] ?? null);
}

const deep = (depth: number): Json => (depth === 0 ? 1 : [deep(depth - 1)]);

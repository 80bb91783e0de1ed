import { DuckDBInstance } from '@duckdb/node-api';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isFunctionAllowed } from '#coordinator/resolver/function-policy.ts';
import { largeCalls, type Signature } from './large-arguments.ts';

/** The law: every quantum ends so soon after its interrupt. */
const OBEY_MS_MAX = 2_000;
/**
 * Functions whose time grows with a list of millions of elements, a text of tens of megabytes, or the number of a zone's letters: seconds at
 * the most. They are named here, so that one that is worse, or new, is seen.
 */
const SLOW: ReadonlySet<string> = new Set(
  `array_distinct array_filter array_grade_up array_intersect array_select array_sort array_to_string array_unique array_where filter format
  from_json from_json_strict grade_up json json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
  json_group_object json_group_structure json_keys json_pretty json_structure json_transform json_transform_strict json_type least greatest
  list_aggr list_aggregate list_any_value list_approx_count_distinct list_bit_and list_cat list_concat list_distinct list_entropy
  list_filter list_grade_up list_has_any list_histogram list_intersect list_kurtosis list_kurtosis_pop list_mad list_median list_mode
  list_pack list_product list_reduce list_resize list_reverse_sort list_select list_sort list_string_agg list_transform list_unique
  list_value list_where list_zip make_timestamptz map map_entries map_from_entries map_keys map_values map_concat md5 printf regexp_extract
  regexp_replace regexp_split_to_table replace sha1 sha256 split str_split string_split string_to_array strip_accents time_bucket
  translate array_zip`.split(/\s+/),
);
/** On a machine whose cores others want as well, everything takes longer. */
const crowd = (): number => Math.max(1, (loadavg()[0] ?? 1) / availableParallelism());

let child: ChildProcess | undefined;

afterAll(() => child?.kill('SIGKILL'));

async function probe(): Promise<ChildProcess> {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) return child;
  const script = fileURLToPath(new URL('quantum-probe.ts', import.meta.url));
  const started = fork(script, { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: 'ignore' });
  await once(started, 'message');
  child = started;
  return started;
}

/** How a call ended: in time, too late, or with the process. */
async function outcome(sql: string): Promise<'fine' | 'slow' | 'crash'> {
  const process = await probe();
  const limitMs = OBEY_MS_MAX * crowd();
  const seen = new AbortController();
  const { signal } = seen;
  const end = await Promise.race([
    once(process, 'message', { signal }).then(([afterMs]) => (Number(afterMs) > limitMs ? 'slow' : 'fine')),
    once(process, 'exit', { signal }).then(() => 'crash' as const),
    sleep(limitMs + 1_000, 'hung' as const, { signal }),
    new Promise<never>((_resolve, reject) =>
      process.send(sql, (error) => (error === null ? undefined : reject(error))),
    ),
  ]);
  seen.abort();
  if (end !== 'hung') return end;
  process.kill('SIGKILL');
  await once(process, 'exit');
  return 'slow';
}

async function served(): Promise<readonly Signature[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name), function_type, list_transform(parameter_types || CASE WHEN varargs IS NULL THEN [] ELSE
     [varargs, varargs] END, lambda x: coalesce(x, 'null')) FROM duckdb_functions() WHERE function_type IN ('scalar', 'macro') ORDER BY ALL`,
  );
  return (reader.getRowsJson() as [string, string, string[]][])
    .map(([name, kind, types]) => ({ name, kind, types }))
    .filter(({ name }) => isFunctionAllowed(name) && !name.startsWith('icu_collate'));
}

test('no served function crashes the process, and each obeys an interrupt, whatever its arguments are', async () => {
  const calls = new Map(
    (await served()).flatMap((signature) => largeCalls(signature).map((sql) => [sql, signature.name])),
  );
  const slow = new Set<string>();
  const crashes: string[] = [];
  for (const [sql, name] of calls) {
    const end = await outcome(sql);
    if (end === 'slow') slow.add(name);
    if (end === 'crash') crashes.push(sql);
  }
  expect(crashes).toEqual([]);
  expect([...slow].filter((name) => !SLOW.has(name))).toEqual([]);
  expect(calls.size).toBeGreaterThan(1_000);
}, 3_600_000);

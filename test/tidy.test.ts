import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { makeTypes } from '#proto/make-types.ts';
import { ERRORS } from '#shared/error.ts';
import { superLinear } from './support/super-linear.ts';
import { judgeProofs, ranTests, requirementsOf, type Proof, type RanTest } from '#test/support/proofs.ts';

/** The rules of the code that a machine can check. `npm run docs:errors` rewrites docs/errors.md. */
const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const TRACKED = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
/** Files that `npm run proto:types` makes. */
const GENERATED = 'proto/generated/';
const SOURCES = TRACKED.filter((path) => /\.tsx?$/.test(path) && !path.startsWith(GENERATED));
const TOP_FOLDERS = ['shared', 'proto', 'catalog', 'coordinator', 'worker', 'cli', 'bench', 'test'] as const;

/** Folders that each top-level folder may import from; a folder may always import from itself. */
const MAY_IMPORT: Readonly<Record<(typeof TOP_FOLDERS)[number], readonly string[]>> = {
  shared: ['proto'],
  proto: [],
  catalog: ['shared', 'proto'],
  coordinator: ['shared', 'proto'],
  worker: ['shared', 'proto'],
  cli: ['shared', 'proto', 'catalog', 'coordinator', 'worker'],
  bench: ['shared', 'proto', 'catalog', 'coordinator', 'worker', 'cli', 'test'],
  test: ['shared', 'proto', 'catalog', 'coordinator', 'worker', 'cli', 'bench'],
};
/**
 * The rooms of each service, and of `shared`, from the bottom up: a folder (or a file of the top level) imports only what stands before it.
 * The README of a service lists its folders in the same order.
 */
const ORDER: Readonly<Record<'shared' | 'catalog' | 'coordinator' | 'worker' | 'cli', string>> = {
  shared: `
    must memory-uses retry
    cut-text nearest-name at-most byte-budget uuid-v7 id clock json error check-json or-aborted plain-text default-catalog rfc3339 print-count process-usage
    release mlfq-spec native fair made-type principal sql policy duckdb-error mask-secrets log watched-files config newcomers thread http authorization keyring signed-text sealed-text grpc token-verifier storage secret-file sealing-keys
    ticket console stage iceberg task database flight membership metrics-access turn-metrics`,
  catalog: `
    metadata lease store authorization storage token outbound issuer principal factor planning idempotency delegation observe context principal-statement sign-in policy upkeep webhook commit purge stage bootstrap page scim rest
    internal expiry main`,
  coordinator: `
    plan statement binding catalog-client auth cluster dialect resolver sink result arrival planner distributor scheduler workload history session stage
    operation inspect refresh profile write unload command copy prepare quarantine transaction cursor client-texts query observe api
    standing start-doors start-term active-term hand-over open-member-server main`,
  worker: `
    this-machine temporary-folders memory process-limit duckdb batch spool disk-cache objects scan staged row-cache write load turns run slot ordered-end
    exchange task flight metrics main`,
  cli: `
    node-flags accepts exit-code command bucket-flag-list bucket-flags process-identity cluster-file door-fetch secrets operator-security catalog-rpc print-table
    admin admin-audit admin-client admin-job admin-quarantine ask-members host-status status admin-secrets certificate cluster config-print console
    up doctor down load load-command service login sql stage supervise-worker token worker-address worker-cache worker-drain workload commands main skein package`,
};
/** Large rooms have an order of their own: their folders from the bottom up. A file beside them belongs to no folder, and forms no circle either. */
const ORDER_WITHIN: Readonly<Record<string, string>> = {
  'coordinator/command':
    'clause cursor maintenance policy schema table alter-table catalog view stage copy materialized-view principal',
  'coordinator/api': 'http administer browse inspect console flight-sql postgres',
  'coordinator/api/postgres': 'message value text entry copy statement',
  'catalog/rest': 'operation',
  'catalog/rest/operation':
    'catalog config credentials function health metrics namespace planning stage table token transaction view',
  'catalog/metadata': 'view',
  'shared/iceberg': 'avro write',
};
/** Vitest loads it by its default export. */
const REPORTER = 'test/support/run/slowest-files.ts';
/** The program itself, which the launcher and supervisors of workers start again as processes: nothing in it is loaded by them. */
const ITSELF = 'cli/skein.js';
/** A worker for tests of the coordinator. */
const SCRIPTED_WORKER = 'test/support/scripted/worker.ts';
/** Beside these folders, a file may import this one. */
const ROOT_FILE = 'package.json';
/** A file may be longer when its first line says why: `// long file: ...`. */
const LINES_MAX = 400;
const TEST_LINES_MAX = 800;
const FUNCTION_LINES_MAX = 70;
/** In these folders names and keywords of SQL must be folded as DuckDB folds them. */
const SQL_FOLDERS = /^(coordinator|catalog\/(store|internal)|shared\/sql)\//;
/** Files of these folders that change the case of other texts: ids, headers, our own words, names of types and functions. */
const FOLDS_OTHER_TEXTS = new Set([
  'shared/sql/fold-identifier.ts',
  'coordinator/api/console/own-page.ts',
  'coordinator/api/flight-sql/visit.ts',
  'coordinator/api/http/history-routes.ts',
  'coordinator/api/http/kept-query.ts',
  'coordinator/api/http/live-query-routes.ts',
  'coordinator/api/http/post-query.ts',
  'coordinator/api/postgres/value/array-cells.ts',
  'coordinator/api/postgres/entry/sign-in.ts',
  'coordinator/arrival/postgres/read-text.ts',
  'coordinator/auth/sign-in.ts',
  'coordinator/binding/metadata-rows.ts',
  'coordinator/planner/decode-expression.ts',
  'coordinator/planner/explain-plan.ts',
  'coordinator/plan/print-expression.ts',
  'coordinator/session/postgres-settings.ts',
  'coordinator/session/session-store.ts',
  'coordinator/session/sql-type-name.ts',
  'coordinator/dialect/postgres/expressions.ts',
  'coordinator/dialect/postgres/figure-name.ts',
  'coordinator/distributor/print/print-plan.ts',
  'coordinator/distributor/print/print-sql-join.ts',
  'coordinator/distributor/print/print-sql-source.ts',
  'coordinator/observe/statement-spans.ts',
  'coordinator/query/explain-analyze.ts',
  'coordinator/query/query-registry.ts',
  'coordinator/result/kept-results.ts',
  'coordinator/scheduler/divide-staged.ts',
  'coordinator/stage/store-signer.ts',
  'coordinator/unload/unload-columns.ts',
]);
/**
 * All code that deletes files of a storage, by the names of its files. Whoever deletes what a table's metadata names does it by the rule of
 * `shared/iceberg/own-files.ts`; the others delete files that they have made themselves, or that no table has.
 */
const BY_THE_RULE = ['purge-table.ts', 'expire-table.ts', 'expire-snapshots.ts', 'remove-orphan-files.ts'];
const DELETES_ITS_OWN: Readonly<Record<string, string>> = {
  'own-files.ts': 'the rule',
  'files-stayed.ts': 'removeFiles, for the rule',
  'commit-tables.ts':
    'metadata documents that this commit wrote, or that left the log and lie in the folders of the table (swap-metadata)',
  'run-steps.ts': 'metadata documents that this request wrote',
  'rename-with-views.ts': 'documents of views that this rename wrote, and no view got',
  'check-bucket.ts': 'files of the check',
  'sweep-stages.ts': 'folders of stages',
  'stage-files.ts': 'files of a stage, by its paths',
  'write-journal.ts': 'files with the id of a write that did not happen',
  'commit-writes.ts': 'manifests of an attempt',
  'commit-transaction.ts': 'manifests of statements of the transaction',
  'table-file-writer.ts': 'files of this task',
  'write-stage.ts': 'files of a task that was tried before',
  'load-table.ts': 'files of this load',
};
const MASKS_SECRETS = 'shared/mask-secrets.ts';
/** Everything that keeps, lists or logs a text of a client, and what of it. */
const MASKED: Readonly<Record<string, string>> = {
  'catalog/principal-statement/check-names.ts': 'names, which are refused',
  'catalog/sign-in/browser-sign-ins.ts': 'user agents of browsers',
  'catalog/store/postgres/audit-store.ts':
    'the audit log and what webhooks are told: names that somebody typed, details',
  'coordinator/profile/statement-profile.ts': 'profiles: the plan has literals',
  'coordinator/query/active-query.ts': 'sources and user agents: in history, journal, lists, events',
  'coordinator/query/routed-statement.ts': 'the same in names of resource groups',
  'coordinator/session/session.ts': 'settings',
  'coordinator/statement/redact-statement.ts':
    'statements and messages: in history, journal, lists, events, quarantine, logs',
  'shared/log/logger.ts': 'every line of a log',
};
/** Within each of these a name stands for one thing: whoever reads it need not look from where it comes. */
const NAMED_ONCE = ['shared', 'catalog', 'coordinator', 'worker', 'cli', 'bench'] as const;
/** The page has code of its own and of `shared/sql`, and types of the API; nothing of a service may be in its files. */
const PAGE_MAY_RUN = /^#shared\/sql\//;
/** A room's module for threads exports the room's functions under their own names. */
const IN_THREAD = /-in-thread\.ts$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;

const importsOf = (source: string): readonly string[] =>
  [
    ...source.matchAll(/(?:^|\n)(?:import|export)\b[^;'"]*?['"]([^'"]+)['"]/g),
    ...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
    ...source.matchAll(/\bimport\.meta\.resolve\(\s*['"]([^'"]+)['"]/g),
    // A module that a thread or a process loads by its URL is an import, too.
    ...source
      .matchAll(/\bnew URL\(\s*['"]([^'"]+\.[jt]s)['"],\s*import\.meta\.url/g)
      .map((match) => [match[0], (match[1] ?? '').replace(/^(?![.#])/, './')] as const),
  ].map((match) => match[1] ?? '');
/** The names that a file exports. */
const exportsOf = (source: string): readonly string[] =>
  [
    ...source.matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(?:type|const|let|function\*?|class|interface|enum) (\w+)/gm,
    ),
  ].map((match) => match[1] ?? '');
const topOf = (path: string): string => path.split('/')[0] ?? '';
/** Tests, and what only tests import, may look up. */
const isTestOnly = (path: string): boolean => /\.test\.ts$|^(?:scripted|test)-/.test(basename(path));

type RoomImport = { readonly from: string; readonly to: string };

/** The rooms of a place (its folders, and the files beside them), and which of them import which, by imports and by URLs. */
function importsWithin(place: string): {
  readonly roomsOf: readonly string[];
  readonly imports: readonly (RoomImport & { readonly what: string })[];
} {
  const depth = place.split('/').length;
  const isWithin = (path: string): boolean => path.startsWith(`${place}/`);
  const roomOf = (path: string): string => (path.split('/')[depth] ?? '').replace(/\.[jt]s$/, '');
  const files = TRACKED.filter((path) => /\.[jt]s$/.test(path) && isWithin(path) && !isTestOnly(path));
  const imports = files.flatMap((path) =>
    importsOf(read(path))
      .filter((from) => /^[#.]/.test(from))
      .map((from) => (from.startsWith('#') ? from.slice(1) : normalize(join(dirname(path), from))))
      .filter((to) => isWithin(to) && to !== ITSELF && roomOf(to) !== roomOf(path))
      .map((to) => ({ from: roomOf(path), to: roomOf(to), what: `${path} imports ${to}` })),
  );
  return { roomsOf: [...new Set(files.map(roomOf))].toSorted(), imports };
}

/** The rooms from which imports lead back to themselves. */
function circles(imports: readonly RoomImport[]): readonly string[] {
  const below = Map.groupBy(imports, ({ from }) => from);
  const reaches = (start: string): boolean => {
    const seen = new Set<string>();
    const open = [start];
    for (let room = open.pop(); room !== undefined; room = open.pop()) {
      for (const { to } of below.get(room) ?? []) {
        if (to === start) return true;
        if (!seen.has(to)) open.push(to);
        seen.add(to);
      }
    }
    return false;
  };
  return [...below.keys()].filter(reaches).toSorted();
}

describe('files', () => {
  test('every source file has a kebab-case name and none is called index.ts', () => {
    const wrong = SOURCES.filter(
      (path) => !KEBAB.test(basename(path).replace(/\.tsx?$/, '')) || /^index\.tsx?$/.test(basename(path)),
    );
    expect(wrong).toEqual([]);
  });

  test('no file exports a default, except the configurations and extensions of tools', () => {
    const forTools = (path: string): boolean => path.endsWith('.config.ts') || path === REPORTER;
    const wrong = SOURCES.filter((path) => !forTools(path) && /^export default\b/m.test(read(path)));
    expect(wrong).toEqual([]);
  });

  test('no file re-exports another: there are no barrels', () => {
    expect(SOURCES.filter((path) => /^export (type )?(\*|\{[^}]*\}) from\b/m.test(read(path)))).toEqual([]);
  });

  test.each(NAMED_ONCE)('a name is exported once in %s', (top) => {
    const places = SOURCES.filter((path) => topOf(path) === top && !isTestOnly(path) && !IN_THREAD.test(path)).flatMap(
      (path) => [...new Set(exportsOf(read(path)))].map((name) => ({ name, path })),
    );
    const twice = [...Map.groupBy(places, ({ name }) => name).values()].filter((of) => of.length > 1);
    expect(places.length).toBeGreaterThan(100);
    expect(twice.map((of) => `${of[0]?.name}: ${of.map(({ path }) => path).join(', ')}`)).toEqual([]);
  });

  test('process.env is read in load-config.ts alone, except by tests', () => {
    const allowed = new Set(['shared/config/load-config.ts', 'cli/skein.js', 'vitest.config.ts']);
    const wrong = TRACKED.filter((path) => /\.(ts|js)$/.test(path) && !allowed.has(path))
      .filter((path) => topOf(path) !== 'test' && !path.endsWith('.test.ts'))
      .filter((path) => /\bprocess\.env\b/.test(read(path).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')));
    expect(wrong).toEqual([]);
  });

  test('the case of SQL names is folded by foldIdentifier alone', () => {
    const wrong = SOURCES.filter((path) => SQL_FOLDERS.test(path) && !path.endsWith('.test.ts'))
      .filter((path) => !FOLDS_OTHER_TEXTS.has(path))
      .filter((path) =>
        /\.to(Locale)?(Lower|Upper)Case\(|\.localeCompare\(|\/(?=[gmsy]*i)[gimsy]*[uv]/.test(read(path)),
      );
    expect(wrong).toEqual([]);
    expect([...FOLDS_OTHER_TEXTS].filter((path) => !SOURCES.includes(path))).toEqual([]);
  });

  test('SQL of the catalog stands in its store', () => {
    const asks =
      /\bfrom '(?:kysely|pg)'|\bsql(?:<[^`]*>)?`|\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(/;
    const wrong = SOURCES.filter((path) => topOf(path) === 'catalog' && !isTestOnly(path))
      .filter((path) => !path.startsWith('catalog/store/postgres/'))
      .filter((path) => asks.test(read(path)));
    expect(wrong).toEqual([]);
  });

  test('folders are made by makeFolders alone, except by tests', () => {
    const services = ['shared', 'catalog', 'coordinator', 'worker', 'cli'];
    const wrong = SOURCES.filter((path) => services.includes(topOf(path)) && !path.endsWith('.test.ts'))
      // The second makes one folder in another that is open.
      .filter((path) => !['shared/storage/make-folders.ts', 'shared/storage/file-place.ts'].includes(path))
      .filter((path) => /\bmkdir(?:Sync)?\(/.test(read(path)));
    expect(wrong).toEqual([]);
  });

  test('storage has one door, except for tests', () => {
    const behind =
      /import [^;]*\blocalPath\b[^;]* from '#shared\/storage\/location.ts'|from '[^']*\/(file-storage|open-file).ts'/;
    const wrong = SOURCES.filter((path) => topOf(path) !== 'test' && !path.endsWith('.test.ts'))
      .filter((path) => !path.startsWith('shared/storage/'))
      .filter((path) => behind.test(read(path)));
    expect(wrong).toEqual([]);
  });

  test('files of tables are deleted by one rule, and all code that deletes files of a storage is listed', () => {
    const deletes =
      /[sS]torage\w*(?:\([^()]*\))?\)?\.remove(?:EmptyFolders)?\(|\.open\([^;]*\)\)\.remove(?:EmptyFolders)?\(/;
    const product = SOURCES.filter(
      (path) => /^(?:shared|catalog|coordinator|worker|cli)\//.test(path) && !isTestOnly(path),
    );
    const found = product.filter((path) => deletes.test(read(path)) || /\bremoveOwnFiles\(/.test(read(path)));
    const listed = [...BY_THE_RULE, ...Object.keys(DELETES_ITS_OWN)];
    expect([...new Set(found.map((path) => basename(path)))].toSorted()).toEqual(listed.toSorted());
    const ruled = product.filter((path) => /\bimport [^;]*\bremoveOwnFiles\b/.test(read(path)));
    expect(ruled.map((path) => basename(path)).toSorted()).toEqual(BY_THE_RULE.toSorted());
    const around = product.filter((path) =>
      /\bimport \{[^}]*\bremoveFiles\b[^}]*\} from '[^']*\/files-stayed.ts'/.test(read(path)),
    );
    expect(around).toEqual(['shared/iceberg/own-files.ts']);
  });

  test('whoever keeps, lists or logs a text of a client masks what has the form of a secret', () => {
    const calls = SOURCES.filter((path) => !path.endsWith('.test.ts') && path !== MASKS_SECRETS)
      .filter((path) => /\b(maskSecrets|maskJson|looksSecret)\(/.test(read(path)))
      .toSorted();
    expect(calls).toEqual(Object.keys(MASKED).toSorted());
  });

  test('credentials of channels are made in one folder, except by tests', () => {
    const allowed = ['channel-security', 'proven-credentials', 'door-tls'].map((name) => `shared/grpc/${name}.ts`);
    // etcd's are its own: a name is compared there, and no role.
    const forEtcd = 'shared/membership/etcd-membership.ts';
    const makes = /\b(createInsecure|createSsl|createFromSecureContext|createCertificateProvider\w+)\(/;
    const wrong = SOURCES.filter((path) => topOf(path) !== 'test' && !path.endsWith('.test.ts'))
      .filter((path) => ![...allowed, forEtcd, SCRIPTED_WORKER].includes(path))
      .filter((path) => makes.test(read(path)));
    expect(wrong).toEqual([]);
    expect(read(forEtcd)).not.toContain('createInsecure');
  });

  test('files stay short, or say in their first line why not', () => {
    const wrong = SOURCES.flatMap((path) => {
      const lines = read(path).trimEnd().split('\n');
      const max = path.endsWith('.test.ts') ? TEST_LINES_MAX : LINES_MAX;
      return lines.length > max && !(lines[0] ?? '').startsWith('// long file:')
        ? [`${path}: ${lines.length} lines`]
        : [];
    });
    expect(wrong).toEqual([]);
  });
});

describe('imports', () => {
  test('they point one way, and the three services never import each other', () => {
    const wrong = SOURCES.flatMap((path) => {
      const top = TOP_FOLDERS.find((folder) => folder === topOf(path));
      if (top === undefined) return [];
      return importsOf(read(path))
        .filter((from) => from.startsWith('#'))
        .map((from) => topOf(from.slice(1)))
        .filter((to) => to !== top && !MAY_IMPORT[top].includes(to) && !path.endsWith('.test.ts'))
        .map((to) => `${path} imports #${to}`);
    });
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(ORDER))('within %s a folder imports only those below it', (top, rooms) => {
    const order = rooms.trim().split(/\s+/);
    const { roomsOf, imports } = importsWithin(top);
    expect(roomsOf).toEqual(order.toSorted());
    const wrong = imports.filter(({ from, to }) => order.indexOf(to) > order.indexOf(from));
    expect(wrong.map(({ what }) => what)).toEqual([]);
  });

  test.each(Object.entries(ORDER_WITHIN))('within %s a folder imports only those below it', (place, folders) => {
    const order = folders === '' ? [] : folders.split(' ');
    const { roomsOf, imports } = importsWithin(place);
    expect(roomsOf.filter((room) => existsSync(join(ROOT, place, room)))).toEqual(order.toSorted());
    const wrong = imports.filter(
      ({ from, to }) => order.includes(from) && order.includes(to) && order.indexOf(to) > order.indexOf(from),
    );
    expect(wrong.map(({ what }) => what)).toEqual([]);
    // A room's module for threads has the functions of the files that name it.
    expect(circles(imports.filter(({ to }) => !to.endsWith('-in-thread')))).toEqual([]);
  });

  test('two rooms that import each other, or in a ring, are a circle', () => {
    const ring = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'c', to: 'a' },
      { from: 'c', to: 'd' },
    ];
    expect(circles(ring)).toEqual(['a', 'b', 'c']);
    expect(circles(ring.slice(1))).toEqual([]);
  });

  test.each(['shared', 'catalog', 'coordinator', 'worker', 'cli'] as const)(
    'the README of %s lists its folders from the bottom up',
    (top) => {
      const folders = ORDER[top]
        .trim()
        .split(/\s+/)
        .filter((room) => existsSync(join(ROOT, top, room)));
      const listed = [...read(`${top}/README.md`).matchAll(/^- \*\*([\w-]+)(?:\/[\w-]+)?\*\* – /gm)].map(
        (match) => match[1],
      );
      expect(listed).toEqual(folders);
    },
  );

  test.each(['shared', 'catalog', 'coordinator', 'worker', 'cli'] as const)(
    'a file that the paragraph of a room names lies in that room, in the README of %s',
    (top) => {
      const paragraphs = read(`${top}/README.md`).split(/\n(?=- \*|\*\*[a-z/-]+\*\* |\n)/);
      const wrong = paragraphs.flatMap((paragraph) => {
        const room = /^(?:- \*|\*\*)([a-z-]+)/.exec(paragraph)?.[1] ?? '';
        if (!existsSync(join(ROOT, top, room)) || room === '') return [];
        return [...paragraph.matchAll(/`([a-z0-9-]+\.ts)`/g)]
          .map(([, file = '']) => file)
          .filter((file) => !SOURCES.some((path) => path.startsWith(`${top}/${room}/`) && basename(path) === file))
          .map((file) => `${room}: ${file}`);
      });
      expect(wrong).toEqual([]);
    },
  );

  test('the console imports types of the API, and runs nothing of others but shared/sql', () => {
    const files = SOURCES.filter((path) => path.startsWith('console/src/') && !path.endsWith('.test.ts'));
    const wrong = files.flatMap((path) =>
      [...read(path).matchAll(/^(?:import|export)\b([^;'"]*?)from '(#[^']+)';/gm)]
        .filter(([, what = '', from = '']) => !/^\s+type\b/.test(what) && !PAGE_MAY_RUN.test(from))
        .map(([text]) => `${path}: ${text}`),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  test('a relative import never leaves its top-level folder', () => {
    const wrong = SOURCES.flatMap((path) =>
      importsOf(read(path))
        .filter((from) => from.startsWith('.'))
        .map((from) => normalize(join(dirname(path), from)))
        .filter((to) => topOf(to) !== topOf(path) && to !== ROOT_FILE)
        .map((to) => `${path} imports ${to}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('comments and functions', () => {
  test('a comment begins with its subject, not with "Of", "What" or "Who"', () => {
    const wrong = SOURCES.flatMap((path) =>
      [...read(path).matchAll(/^[ \t]*(?:\/\*\*(?:\n[ \t]*\*)?|\/\/) (?:Of|What|Who)\b.*$/gm)].map(
        ([text]) => `${path}: ${text.trim()}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  test('a dispatch over all kinds ends in unreachable, which throws', () => {
    expect(SOURCES.filter((path) => path !== 'test/tidy.test.ts' && /\bsatisfies never;/.test(read(path)))).toEqual([]);
  });

  test('a function fits a screen', () => {
    const wrong = SOURCES.filter((path) => topOf(path) !== 'test' && !path.endsWith('.test.ts')).flatMap(longFunctions);
    expect(wrong).toEqual([]);
  });

  /** `file: name` of each function that is longer than a screen. */
  function longFunctions(path: string): readonly string[] {
    const source = read(path);
    const { program } = parseSync(path, source);
    const found: string[] = [];
    const look = (node: { start: number; end: number; id?: { name: string } | null }): void => {
      const lines = source.slice(node.start, node.end).split('\n').length;
      if (lines > FUNCTION_LINES_MAX) found.push(`${path}: ${node.id?.name ?? 'function'}, ${lines} lines`);
    };
    new Visitor({ FunctionDeclaration: look, FunctionExpression: look, ArrowFunctionExpression: look }).visit(program);
    return found;
  }
});

describe('patterns', () => {
  /** Patterns that may take more than linear time, as in the code, each with the reason. */
  const ALLOWED: ReadonlyMap<string, string> = new Map();
  /** Files that run in the product, not only in tests and benchmarks. */
  const product = TRACKED.filter(
    (path) =>
      /\.(?:js|tsx?)$/.test(path) &&
      !/\.test\.ts$|\.config\.ts$/.test(path) &&
      !['test', 'bench'].includes(topOf(path)) &&
      !/^(?:scripted|test)-/.test(basename(path)),
  );

  test('none takes more than linear time, whatever the text: most meet one that a client wrote', () => {
    const wrong = new Set<string>();
    const seen = new Set<string>();
    for (const path of product) {
      for (const { pattern, text } of patternsOf(path)) {
        if (pattern === null) wrong.add(`${path}: ${text} is made while it runs, so nobody can judge it`);
        if (pattern === null || seen.has(text) || ALLOWED.has(text)) continue;
        seen.add(text);
        const why = superLinear(pattern);
        if (why !== undefined) wrong.add(`${path}: ${text} ${why}`);
      }
    }
    expect([...wrong]).toEqual([]);
    expect(seen.size).toBeGreaterThan(100);
  }, 120_000);

  test.each([
    /(a*)*b/,
    /^(?:a|[ab])+c/,
    /a.*b.*c/,
    /^-+|-+$/g,
    /,\s*(?![^()]*\))/,
    // These were in the product.
    /\n+LINE \d+: [^]*$/,
    /^([A-Z][A-Za-z]*(?: (?:[A-Z][a-z]+|of|to|in))*) Error: /i,
    /(["'])(?:file:)?(?:[A-Za-z]:)?[\\/](?:[^"'\n]*[\\/])?([^"'\n]*)\1/g,
    /function with name .* (?:does not exist|is not in the catalog)/i,
    /^\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*$/,
    /([a-z][a-z0-9+.-]*:\/\/[^\s/:@,]*):[^\s/@,]*@/gi,
  ])('%s takes more than linear time', (pattern) => {
    expect(superLinear(pattern)).toBeDefined();
  });

  test.each([
    /^[^]*$/,
    /a+b*c?/,
    /x[^]*$/,
    /(?<!\/)\/+$/,
    /"(?:[^"\\]|\\[^])*(?:"|\\?$)/g,
    /(?:\/[^/]+)+\/([^/]+)/g,
    /(?:0[xX][0-9a-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?\.?)/y,
    /^[a-z]{1,99}(?:,[a-z]{1,99}){0,50}$/,
  ])('%s takes linear time', (pattern) => {
    expect(superLinear(pattern)).toBeUndefined();
  });

  /** The patterns of a file; null for one that the code builds from parts. */
  function patternsOf(path: string): readonly { readonly pattern: RegExp | null; readonly text: string }[] {
    const source = read(path);
    const { program, errors } = parseSync(path, source);
    expect(errors).toEqual([]);
    const found: { readonly pattern: RegExp | null; readonly text: string }[] = [];
    const made = ({ start, end, callee }: { start: number; end: number; callee: { type: string } }): void => {
      if (callee.type === 'Identifier' && (callee as { name?: string }).name === 'RegExp') {
        found.push({ pattern: null, text: source.slice(start, end) });
      }
    };
    new Visitor({
      Literal: (node) => {
        if (!('regex' in node)) return;
        const { pattern, flags } = node.regex;
        found.push({ pattern: new RegExp(pattern, flags), text: source.slice(node.start, node.end) });
      },
      NewExpression: made,
      CallExpression: made,
    }).visit(program);
    return found;
  }
});

describe('documents', () => {
  const requirements = requirementsOf(read('docs/spec-coverage.md'));

  test('docs/spec-coverage.md has one line per requirement, each with its own id', () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(650);
    expect(new Set(ids).size).toBe(ids.length);
  });

  // `test/support/check-proofs.ts` says after a run whether each is exactly one test, which ran and passed.
  test('every test that docs/spec-coverage.md names is written in its file', () => {
    const wrong = requirements.flatMap(({ proofs }) => proofs).filter((proof) => !isWritten(proof));
    expect(wrong).toEqual([]);
  });

  test('the types of gRPC messages are those that `npm run proto:types` makes', () => {
    const made = mkdtempSync(join(tmpdir(), 'skein-types-'));
    makeTypes(made);
    const texts = (folder: string): Readonly<Record<string, string>> =>
      Object.fromEntries(
        globSync('**/*.ts', { cwd: folder }).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
      );
    const [committed, expected] = [texts(join(ROOT, GENERATED)), texts(made)];
    rmSync(made, { recursive: true });
    const wrong = [...new Set([...Object.keys(committed), ...Object.keys(expected)])].filter(
      (path) => committed[path] !== expected[path],
    );
    expect(wrong).toEqual([]);
  });

  test('docs/errors.md is the error catalogue, printed', async () => {
    await expect(errorTable()).toMatchFileSnapshot('../docs/errors.md');
  });

  test('every path that a document names exists', () => {
    const paths = TRACKED.filter((path) => path.endsWith('.md')).flatMap((document) =>
      [...read(document).matchAll(/`([\w.-]+(?:\/[\w.-]*)+)`/g)].map(([, path = '']) => ({ document, path })),
    );
    const tops = new Set(TRACKED.filter((path) => path.includes('/')).map(topOf));
    // A suite is named without its ending.
    const isThere = (path: string): boolean =>
      existsSync(join(ROOT, path)) || TRACKED.some((one) => one.startsWith(`${path}.`));
    const wrong = paths.filter(({ path }) => tops.has(topOf(path)) && !isThere(path));
    expect(paths.length).toBeGreaterThan(200);
    expect(wrong).toEqual([]);
  });
});

describe('packages', () => {
  type Manifest = {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  type Lock = { readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>> };
  const manifest = JSON.parse(read('package.json')) as Manifest;
  const lock = JSON.parse(read('package-lock.json')) as Lock;

  test('every dependency is pinned', () => {
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(ranges.filter(([, range]) => !/^\d+\.\d+\.\d+/.test(range))).toEqual([]);
  });

  test('allowScripts decides on every package that has an install script', () => {
    const withScript = Object.entries(lock.packages)
      .filter(([, entry]) => entry.hasInstallScript === true)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(withScript.filter((name) => manifest.allowScripts[name] === undefined)).toEqual([]);
  });
});

describe('proofs', () => {
  const page = [
    '| A-1 | one | `a.test.ts › group › x` |',
    '| A-2 | two | `a.test.ts › y`<br>`b.full.test.ts › z` |',
    '| A-3 | none | not yet |',
  ].join('\n');
  const proofs = requirementsOf(page).flatMap((requirement) => requirement.proofs);
  const ran = (path: string, name: string, status = 'passed'): RanTest => ({ path, name, status });
  const both = [ran('a.test.ts', 'group › x'), ran('a.test.ts', 'y')];

  test('a row is not yet there, or names tests with their groups', () => {
    expect(requirementsOf(page).map((requirement) => [requirement.id, requirement.proofs.length])).toEqual([
      ['A-1', 1],
      ['A-2', 2],
      ['A-3', 0],
    ]);
    for (const cell of ['', 'soon', '`a.ts › x`', '`a.test.ts`', 'a.test.ts › x', '`a.slt › x`']) {
      expect(() => requirementsOf(`| A-1 | one | ${cell} |`), cell).toThrow('A-1');
    }
  });

  test('one holds when exactly one test of its name ran and passed', () => {
    const wrong = (...tests: readonly RanTest[]): readonly string[] => judgeProofs(proofs, tests).wrong;
    expect(wrong(...both)).toEqual([]);
    expect(wrong(ran('a.test.ts', 'group › x'))).toEqual(['A-2: a.test.ts › y: no such test ran']);
    expect(wrong(...both, ran('a.test.ts', 'y'))).toEqual(['A-2: a.test.ts › y: 2 tests have this name']);
    expect(wrong(ran('a.test.ts', 'group › x', 'skipped'), ran('a.test.ts', 'y', 'failed'))).toEqual([
      'A-1: a.test.ts › group › x: the test is skipped',
      'A-2: a.test.ts › y: the test is failed',
    ]);
    expect(wrong(ran('b.test.ts', 'group › x'), ran('a.test.ts', 'x'), ran('a.test.ts', 'y'))).toHaveLength(1);
  });

  test('one of the full run is checked when that ran', () => {
    const full = (...tests: readonly RanTest[]): readonly [number, number] => {
      const { wrong, unchecked } = judgeProofs(proofs, [...both, ...tests]);
      return [wrong.length, unchecked.length];
    };
    expect(full()).toEqual([0, 1]);
    expect(full(ran('b.full.test.ts', 'z'))).toEqual([0, 0]);
    expect(full(ran('b.full.test.ts', 'z', 'failed'))).toEqual([1, 0]);
    expect(full(ran('c.full.test.ts', 'other'))).toEqual([1, 0]);
  });

  test('reports of vitest are read with paths of the project', () => {
    const assertionResults = [{ ancestorTitles: ['group'], title: 'x', status: 'passed' }];
    const report = JSON.stringify({ testResults: [{ name: '/at/a.test.ts', assertionResults }] });
    expect(ranTests(report, '/at')).toEqual([ran('a.test.ts', 'group › x')]);
  });
});

/** Whether the file holds the test's title as a text, or one whose placeholders (`%s`, `$name`, `${...}`) can make it. */
function isWritten({ path, name }: Proof): boolean {
  if (!existsSync(join(ROOT, path))) return false;
  const title = name.split(' › ').at(-1) ?? '';
  const texts = [...read(path).matchAll(/(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].map((match) => match[2] ?? '');
  return texts.some((text) => {
    const parts = text.split(/%[a-z]|\$\{[^}]*\}|\$\w+/);
    return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}$`).test(
      title,
    );
  });
}

function errorTable(): string {
  const lines = Object.entries(ERRORS).map(
    ([code, e]) =>
      `| \`${code}\` | ${e.sqlState} | ${e.http} | ${e.grpc} | ${e.kind} | ${e.retryable ? 'yes' : 'no'} | ${e.meaning} |`,
  );
  return [
    '# Errors',
    '',
    'Every error that a client can see. The query HTTP API answers `{"error": code, "message": text, "sql_state": SQLSTATE}` with the',
    'HTTP status; gRPC carries the status number. *Retry* says whether the same request may succeed unchanged. Printed from',
    '`shared/error.ts` by `npm run docs:errors`.',
    '',
    '| code | SQLSTATE | HTTP | gRPC | kind | retry | meaning |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

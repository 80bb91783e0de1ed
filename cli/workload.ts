import { readFileSync } from 'node:fs';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { QUERY_TYPES } from '#coordinator/statement/query-type.ts';
import { readWorkload } from '#coordinator/workload/read-workload.ts';
import { route } from '#coordinator/workload/route.ts';
import { DEFAULT_WORKLOAD, type GroupSpec, type Workload } from '#coordinator/workload/workload.ts';
import { groupAt, rootOf } from '#coordinator/workload/walk-groups.ts';
import { workloadPath } from '#coordinator/workload/workload-file.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';

/** `skein workload check FILE`. @throws INVALID_CONFIGURATION with the file's line and column */
export function checkWorkload(positionals: readonly string[]): ExitCode {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError('workload check: expected one file');
  const { root, rules } = readFile(file);
  process.stdout.write(`${file} is valid: ${countGroups(root)} groups, ${rules.length} routing rules\n`);
  return EXIT.ok;
}

/** `skein workload route`: prints the group of a statement with these properties, and the rule that sends it there. */
export function routeWorkload({ config }: LoadedConfig, flags: Flags): ExitCode {
  const queryType = flags.text('type') ?? 'select';
  if (!QUERY_TYPES.some((known) => known === queryType))
    throw new UsageError(`--type: expected ${QUERY_TYPES.join(', ')}, not ${JSON.stringify(queryType)}`);
  const named = flags.text('file') ?? (config['coordinator.workload_file'] || undefined);
  const workload = named === undefined ? ofDataFolder(workloadPath(config)) : readFile(named);
  const user = flags.text('user') ?? '';
  const found = route(workload.rules, {
    tenant: flags.text('tenant') ?? config['bootstrap.tenant'],
    principal: user,
    username: user,
    source: flags.text('source') ?? null,
    resourcePool: flags.text('pool') ?? '',
    queryType,
  });
  const { path } = groupAt(rootOf(workload), found.path);
  const priority = found.priority === null ? '' : `, priority ${found.priority}`;
  const why = found.rule === null ? 'no rule matches' : `rule ${found.rule}`;
  process.stdout.write(`${path} (${why}${priority})\n`);
  return EXIT.ok;
}

/** The workload of the data folder's file, or the default one when there is none. */
function ofDataFolder(path: string): Workload {
  try {
    return readWorkload(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_WORKLOAD;
    throw error;
  }
}

function readFile(file: string): Workload {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkeinError('INVALID_CONFIGURATION', `${file}: ${(error as Error).message}`);
  }
  return readWorkload(text, file);
}

const countGroups = ({ groups }: GroupSpec): number => groups.reduce((sum, group) => sum + countGroups(group), 1);

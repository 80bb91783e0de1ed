import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import project from '../package.json' with { type: 'json' };
import { must } from './must.ts';

/** The releases of a process. A coordinator assigns tasks only to workers of its own release. */
export type Release = { readonly skein: string; readonly duckdb: string };

/** The files that define the messages between coordinator and worker. */
export const MESSAGES = [
  'proto/worker.proto',
  'proto/flight.proto',
  'shared/task/task.ts',
  'shared/task/task-codec.ts',
  'shared/ticket.ts',
  'shared/storage/credential.ts',
  'shared/iceberg/predicate-codec.ts',
];
const FINGERPRINT_CHARS = 8;

/**
 * The release of Skein that this process runs, such as `0.1.0+3fa9c17b`: the package version and a fingerprint of the messages between
 * coordinator and worker. Two builds of one version are different releases when one could misunderstand the other's tasks.
 */
export const SKEIN_RELEASE = `${project.version}+${fingerprint()}`;

/**
 * The release of DuckDB that coordinators plan with, such as `1.5.5`: that of the pinned package (`1.5.5-r.5` is its fifth packaging). It
 * is read from the project file instead of the library, which only workers and the planner's processes load.
 */
export const DUCKDB_RELEASE = must(project.dependencies['@duckdb/node-api'].split('-')[0], 'a release');

export const printRelease = ({ skein, duckdb }: Release): string =>
  `${skein === '' ? 'an older Skein' : `Skein ${skein}`} with DuckDB ${duckdb}`;

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const path of MESSAGES) hash.update(readFileSync(new URL(`../${path}`, import.meta.url)));
  return hash.digest('hex').slice(0, FINGERPRINT_CHARS);
}

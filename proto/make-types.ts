import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { LOADER_OPTIONS } from './loader-options.ts';

const FOLDER = import.meta.dirname;
const GENERATED = join(FOLDER, 'generated');

/**
 * Writes the TypeScript types of all messages and services of this folder into `into`, as proto-loader gives them with `LOADER_OPTIONS`:
 * `RunTaskReply` is a message as it is received, `RunTaskReplyInput` one as it may be sent. `npm run proto:types` runs it.
 */
export function makeTypes(into: string): void {
  const require = createRequire(import.meta.url);
  const generator = join(require.resolve('@grpc/proto-loader'), '../../bin/proto-loader-gen-types.js');
  const options = Object.entries(LOADER_OPTIONS).map(([name, value]) =>
    typeof value === 'function' ? `--${name}=${value.name}` : `--${name}`,
  );
  const names = ['--inputTemplate=%sInput', '--outputTemplate=%s', '--importFileExtension=.ts'];
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.proto'));
  const target = ['--grpcLib=@grpc/grpc-js', `--outDir=${resolve(into)}`];
  execFileSync(process.execPath, [generator, ...options, ...names, ...target, ...files], { cwd: FOLDER });
  // One without a service has types that nothing names.
  const isOfMessages = (name: string): boolean => !/^service /m.test(readFileSync(join(FOLDER, name), 'utf8'));
  for (const name of files.filter(isOfMessages)) rmSync(join(into, name.replace(/proto$/, 'ts')));
  for (const entry of readdirSync(into, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) makeReadonly(join(entry.parentPath, entry.name));
  }
}

/** Makes the fields of messages readonly, and the arrays that they hold. */
function makeReadonly(path: string): void {
  const text = readFileSync(path, 'utf8');
  const fields = text.replaceAll(/^  '(\w+)'(\??): (.*);$/gm, (_line, name: string, optional: string, type: string) => {
    return `  readonly ${name}${optional}: ${type.endsWith('[]') ? 'readonly ' : ''}${type};`;
  });
  writeFileSync(path, fields);
}

if (process.argv[1] === import.meta.filename) {
  rmSync(GENERATED, { recursive: true, force: true });
  makeTypes(GENERATED);
}

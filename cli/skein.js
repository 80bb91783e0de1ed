#!/usr/bin/env node
// The package's command. It must run on any Node: one older than 24 hands over to the binary of the `node` package, and a service
// gets a libuv pool of its own size and the options of its kind (they count only when they are there before Node starts).
// In an installed package the program is `dist/` (`package/make-dist.ts`): Node runs no TypeScript below `node_modules`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE, NODE_FLAGS, serviceEnvironment, serviceFlags } from './node-flags.js';

const NODE_MAJOR_MIN = 24;
const SERVICES = ['catalog', 'coordinator', 'worker'];

const self = fileURLToPath(programUrl('skein'));
const [command = ''] = process.argv.slice(2);
const ownArguments = [self, ...process.argv.slice(2)];

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  runInstead(packagedNode());
} else {
  const wanted = serviceEnvironment(command);
  const isSet = Object.keys(wanted).every((name) => process.env[name] !== undefined);
  if (SERVICES.includes(command) && !isSet && process.execve !== undefined) {
    const environment = { ...wanted, ...process.env };
    process.execve(process.execPath, [process.execPath, ...serviceFlags(command), ...ownArguments], environment);
  }
  nodeModule.enableCompileCache?.(COMPILE_CACHE);
  const { main } = await import(programUrl('main'));
  await main(process.argv.slice(2));
}

/**
 * The URL of a module of the command line: beside this file, or in the package's `dist`.
 * @param {string} name
 */
function programUrl(name) {
  const [source, beside, packed] = ['./main.ts', './main.js', '../dist/cli/main.js'].map(
    (path) => new URL(path, import.meta.url),
  );
  const main = [source, beside].find((url) => existsSync(url)) ?? packed;
  return new URL(name === 'main' ? main : `${name}.js`, main).href;
}

function packagedNode() {
  try {
    return join(dirname(nodeModule.createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node');
  } catch {
    process.stderr.write(`skein needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.version}\n`);
    return process.exit(1);
  }
}

/** Runs the same command with another binary, passes signals on, and ends as it ends. */
function runInstead(binary) {
  const child = spawn(binary, [...NODE_FLAGS, ...ownArguments], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`cannot start ${binary}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

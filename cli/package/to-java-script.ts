import { posix } from 'node:path';

const ALIAS = '#';
/** A module that is named by an import, or by the URL that a thread or a process starts with. */
const MODULE = /(\b(?:from |import |import\(|new URL\())'([^'\n]+)\.ts'/g;

/**
 * Names the modules that the file at `path` below the project imports as the package has them: `.js`, and the project's aliases by relative
 * paths. Pure.
 */
export function toJavaScript(path: string, source: string): string {
  return source.replaceAll(MODULE, (_, before: string, name: string) => {
    if (!name.startsWith(ALIAS)) return `${before}'${name}.js'`;
    const relative = posix.relative(posix.dirname(path), name.slice(1));
    return `${before}'${relative.startsWith('.') ? relative : `./${relative}`}.js'`;
  });
}

import { posix } from 'node:path';

/** A module that is named by an import, or by the URL that a thread or a process starts with. */
const MODULE = /(\bfrom |\bimport |\bimport\(|\bnew URL\()'([^'\n]+)\.ts'/g;

/** The text of the file at `path` below the project, with its modules named as the package has them: `.js`, and `#folder/...` by a relative path. Pure. */
export function toJavaScript(path: string, source: string): string {
  return source.replaceAll(MODULE, (_, before: string, name: string) => {
    if (!name.startsWith('#')) return `${before}'${name}.js'`;
    const relative = posix.relative(posix.dirname(path), name.slice(1));
    return `${before}'${relative.startsWith('.') ? relative : `./${relative}`}.js'`;
  });
}

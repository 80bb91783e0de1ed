import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** Where the build of the console lies, in a checkout and in the package alike. */
const BUILD = join(import.meta.dirname, '../../../console/dist');
const INDEX = 'index.html';
/** Makes the build. */
export const BUILD_COMMAND = 'npm run console:build';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
/** How a file may be compressed, the best first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
type Encoding = keyof typeof ENCODINGS;

export type ConsoleFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly encoding: Encoding | undefined;
  /** Its name has a hash of what is in it, so it never changes. */
  readonly isImmutable: boolean;
};

/** The files of the console's build, listed at the first request: a coordinator that nobody visits holds none of them. */
export class ConsoleFiles {
  readonly #folder: string;
  #names: Promise<ReadonlySet<string>> | undefined;

  constructor(folder = BUILD) {
    this.#folder = folder;
  }

  /** Whether there is a build. */
  get isThere(): boolean {
    return existsSync(join(this.#folder, INDEX));
  }

  /** The file at a path below `/console/`, else the page itself, whose script reads the path; undefined: there is no build, or no such file. */
  async find(path: string, accepted: string): Promise<ConsoleFile | undefined> {
    if (!this.isThere) return undefined;
    const names = await (this.#names ??= listFiles(this.#folder));
    if (names.has(path)) return this.#read(path, names, accepted);
    return path.startsWith('assets/') ? undefined : this.#read(INDEX, names, accepted);
  }

  async #read(path: string, names: ReadonlySet<string>, accepted: string): Promise<ConsoleFile> {
    const encoding = (Object.keys(ENCODINGS) as Encoding[]).find(
      (one) => accepts(accepted, one) && names.has(`${path}${ENCODINGS[one]}`),
    );
    const name = encoding === undefined ? path : `${path}${ENCODINGS[encoding]}`;
    return {
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      bytes: await readFile(join(this.#folder, name)),
      encoding,
      isImmutable: path.startsWith('assets/'),
    };
  }
}

const accepts = (accepted: string, encoding: Encoding): boolean =>
  accepted.split(',').some((one) => one.split(';')[0]?.trim() === encoding);

async function listFiles(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)),
  );
}

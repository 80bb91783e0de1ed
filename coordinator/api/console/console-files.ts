import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { consoleBuildState, consoleFolder } from './build-state.ts';

const INDEX = 'index.html';

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

type Listed = {
  readonly builtAtMs: number;
  readonly names: Promise<ReadonlySet<string>>;
  readonly isOld: Promise<boolean>;
};

/**
 * The files of the console's build, listed at the first request: a coordinator that nobody visits holds none of them. A page that was built
 * meanwhile has files of other names, so they are listed again when its index is another.
 */
export class ConsoleFiles {
  readonly #console: string;
  readonly #folder: string;
  #listed: Listed | undefined;

  /** @param folder of the console, whose `dist` is the build */
  constructor(folder = consoleFolder()) {
    this.#console = folder;
    this.#folder = join(folder, 'dist');
  }

  /** Whether there is a build. */
  get isThere(): boolean {
    return existsSync(join(this.#folder, INDEX));
  }

  /** The file at a path below `/console/`, else the page itself, whose script reads the path; undefined: there is no build, or no such file. */
  async find(path: string, accepted: string): Promise<ConsoleFile | undefined> {
    const listed = await this.#list();
    if (listed === undefined) return undefined;
    const names = await listed.names;
    if (names.has(path)) return this.#read(path, names, accepted);
    return path.startsWith('assets/') ? undefined : this.#read(INDEX, names, accepted);
  }

  /** Whether the build is of other sources than those beside it. */
  async isOld(): Promise<boolean> {
    return (await (await this.#list())?.isOld) === true;
  }

  async #list(): Promise<Listed | undefined> {
    const index = await stat(join(this.#folder, INDEX)).catch(() => undefined);
    if (index === undefined) return undefined;
    if (this.#listed?.builtAtMs !== index.mtimeMs) {
      this.#listed = {
        builtAtMs: index.mtimeMs,
        names: listFiles(this.#folder),
        isOld: consoleBuildState(this.#console).then((state) => state === 'old'),
      };
    }
    return this.#listed;
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

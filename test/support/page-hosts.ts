import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '#shared/must.ts';
import { projectRoot, run } from './cluster.ts';
import { WorkerNetwork, type NetworkMember } from './network-namespaces.ts';

/**
 * Hosts on which the commands of a page run as they stand: each has a network of its own, a name, and folders of its own in the place of
 * `/etc`, `/opt`, `/var/lib` and `/run`; all share `/srv`. Three commands are not the real ones: `systemctl` keeps processes by their unit files
 * (`run-unit.ts`), `ssh root@HOST` runs on that host, and `npm i -g --prefix P skein-sql-V.tgz` links a folder with that release. It needs root.
 */
export class PageHosts implements AsyncDisposable {
  readonly folder: string;
  readonly #network: WorkerNetwork;
  readonly #hosts = new Map<string, Host>();

  private constructor(folder: string, network: WorkerNetwork) {
    this.folder = folder;
    this.#network = network;
  }

  /** @param names of the hosts, each with further names after it, separated by spaces */
  static async create(names: readonly string[]): Promise<PageHosts> {
    const network = await WorkerNetwork.create();
    if (network === null) throw new Error('network namespaces cannot be made');
    const folder = await mkdtemp(join(tmpdir(), 'skein-page-'));
    // Services of another account than root's go through it.
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'srv'));
    await mkdir(join(folder, 'releases'));
    const made = new PageHosts(folder, network);
    try {
      const members: (readonly [string, NetworkMember])[] = [];
      for (const name of names) members.push([name, await network.add()]);
      const table = members.map(([name, { address }]) => `${address} ${name}`).join('\n');
      for (const [name, member] of members) await made.#add(must(name.split(' ')[0], 'a name'), member, table);
      await made.release('0.1.0', projectRoot);
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    return made;
  }

  /** Makes a release that `npm` installs. */
  async release(version: string, sources: string): Promise<void> {
    await symlink(sources, join(this.folder, 'releases', version));
  }

  address(name: string): string {
    return this.#host(name).member.address;
  }

  get names(): readonly string[] {
    return [...this.#hosts.keys()];
  }

  /** Runs a script on a host, as root. */
  async run(
    name: string,
    script: string,
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const [file, ...args] = this.#host(name).command(['bash', '--norc', '-euo', 'pipefail', '-c', script]);
    return run(file, args, { timeoutMs: RUN_TIMEOUT_MS, cwd: '/' });
  }

  /** The end of a service's log. */
  async log(name: string, unit: string): Promise<string> {
    const text = await readFile(join(this.folder, name, 'run', `${unit}.log`), 'utf8').catch(() => '');
    return text.slice(-LOG_CHARS);
  }

  async #add(name: string, member: NetworkMember, table: string): Promise<void> {
    const folder = join(this.folder, name);
    for (const part of ['etc', 'opt', 'var-lib', 'run', 'bin']) await mkdir(join(folder, part), { recursive: true });
    await run('cp', ['-a', '/etc/.', join(folder, 'etc')]);
    await writeFile(join(folder, 'etc/hosts'), `127.0.0.1 localhost\n${table}\n`);
    await this.#writeCommands(join(folder, 'bin'));
    const mounts = [
      [join(folder, 'etc'), '/etc'],
      [join(folder, 'opt'), '/opt'],
      [join(folder, 'var-lib'), '/var/lib'],
      [join(folder, 'run'), '/run'],
      [join(this.folder, 'srv'), '/srv'],
    ];
    const script = [
      `hostname ${name}`,
      ...mounts.map(([from, to]) => `mount --bind ${from} ${to}`),
      'echo up',
      'exec sleep infinity',
    ];
    const unshare = ['unshare', '--mount', '--uts', '--propagation', 'private', 'sh', '-ec', script.join('\n')];
    const holder = spawn('ip', ['netns', 'exec', member.name, ...unshare], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#hosts.set(name, new Host(member, holder, join(folder, 'bin')));
    await writeFile(join(folder, 'pid'), String(must(holder.pid, 'a process')));
    const [line] = (await Promise.race([once(must(holder.stdout, 'a pipe'), 'data'), once(holder, 'exit')])) as [
      unknown,
    ];
    if (String(line) !== 'up\n') throw new Error(`the host ${name} cannot be made`);
  }

  async #writeCommands(folder: string): Promise<void> {
    const node = `${process.execPath} --disable-warning=ExperimentalWarning`;
    const supervise = `${node} ${join(projectRoot, 'test/support/run-unit.ts')}`;
    const commands = {
      node: `exec ${process.execPath} "$@"`,
      systemctl: SYSTEMCTL.replaceAll('SUPERVISE', supervise),
      ssh: `host=\${1#root@}; shift\nexec nsenter --all --target "$(cat ${this.folder}/$host/pid)" -- env PATH=${this.folder}/$host/bin:/opt/skein/bin:$PLAIN_PATH bash --norc -c "$*"`,
      npm: NPM.replaceAll('RELEASES', join(this.folder, 'releases')),
    };
    for (const [command, text] of Object.entries(commands)) {
      await writeFile(join(folder, command), `#!/bin/bash\nset -e\nPLAIN_PATH=${PLAIN_PATH}\n${text}\n`, {
        mode: 0o755,
      });
    }
  }

  #host(name: string): Host {
    return must(this.#hosts.get(name), `a host ${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { member, holder } of this.#hosts.values()) {
      // All processes of the namespace: services that a script has left running, too.
      const { stdout } = await run('ip', ['netns', 'pids', member.name]);
      for (const pid of stdout.split('\n').filter((text) => text !== '')) kill(Number(pid));
      holder.kill('SIGKILL');
    }
    await this.#network[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const RUN_TIMEOUT_MS = 300_000;
const LOG_CHARS = 4_000;
const PLAIN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

class Host {
  readonly member: NetworkMember;
  readonly holder: ChildProcess;
  readonly #bin: string;

  constructor(member: NetworkMember, holder: ChildProcess, bin: string) {
    this.member = member;
    this.holder = holder;
    this.#bin = bin;
  }

  /** The words of a command that runs on this host. */
  command(words: readonly string[]): [string, ...string[]] {
    const pid = String(must(this.holder.pid, 'the host is up'));
    const inside = ['--target', pid, '--mount', '--uts', '--net', '--'];
    return [
      'nsenter',
      ...inside,
      'env',
      '-i',
      `PATH=${this.#bin}:/opt/skein/bin:${PLAIN_PATH}`,
      'HOME=/root',
      'TERM=dumb',
      ...words,
    ];
  }
}

/** Units run under `run-unit.ts`, whose process id is in a file. */
const SYSTEMCTL = `
begin() {
  setsid SUPERVISE /etc/systemd/system/$1.service >> /run/$1.log 2>&1 < /dev/null &
  echo $! > /run/$1.pid
}
end() {
  [ -f /run/$1.pid ] || return 0
  pid=$(cat /run/$1.pid)
  kill -TERM $pid 2> /dev/null || true
  while kill -0 $pid 2> /dev/null && ! grep -q '^State:.Z' /proc/$pid/status; do sleep 0.1; done
  rm -f /run/$1.pid
}
case "$1" in
  daemon-reload) ;;
  enable) [ "$2" = --now ] && begin "\${3%.service}" ;;
  start) begin "\${2%.service}" ;;
  stop) end "\${2%.service}" ;;
  restart) end "\${2%.service}"; begin "\${2%.service}" ;;
  *) echo "systemctl $*: not known here" >&2; exit 1 ;;
esac`;

/** \`npm i -g --prefix P ./skein-sql-V.tgz\` */
const NPM = `
[ "$1 $2 $3" = "i -g --prefix" ]
version=\${5##*skein-sql-}
mkdir -p "$4/lib/node_modules" "$4/bin"
ln -sfn "$(readlink RELEASES/\${version%.tgz})" "$4/lib/node_modules/skein-sql"
printf '#!/bin/sh\\nexec node %s/lib/node_modules/skein-sql/cli/skein.js "$@"\\n' "$4" > "$4/bin/skein"
chmod 755 "$4/bin/skein"`;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

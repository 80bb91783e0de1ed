import { run } from '#test/support/cluster.ts';

/**
 * A network for workers, each in a namespace of its own, on one bridge of the host. Made of Linux's network namespaces, so it needs root
 * and `ip`; the addresses are from the range for benchmarks (RFC 2544).
 */
export class WorkerNetwork implements AsyncDisposable {
  /** The host, as the namespaces reach it. */
  readonly hostAddress: string;
  readonly #bridge: string;
  readonly #net: string;
  readonly #members: NetworkMember[] = [];

  private constructor() {
    const id = process.pid % 250;
    this.#net = `198.18.${id}`;
    this.#bridge = `skbr${id}`;
    this.hostAddress = `${this.#net}.1`;
  }

  /** Null where it cannot be made. */
  static async create(): Promise<WorkerNetwork | null> {
    const made = new WorkerNetwork();
    const ok = await all([
      `link add ${made.#bridge} type bridge`,
      `addr add ${made.hostAddress}/24 dev ${made.#bridge}`,
      `link set ${made.#bridge} up`,
    ]);
    if (ok) return made;
    await made[Symbol.asyncDispose]();
    return null;
  }

  /** One more namespace, plugged in. */
  async add(): Promise<NetworkMember> {
    const index = this.#members.length;
    const member = new NetworkMember({
      name: `${this.#bridge}n${index}`,
      address: `${this.#net}.${index + 10}`,
      bridge: this.#bridge,
    });
    this.#members.push(member);
    const inside = `${member.name}p`;
    const ok = await all([
      `netns add ${member.name}`,
      `link add ${member.name} type veth peer name ${inside} netns ${member.name}`,
      `link set ${member.name} master ${this.#bridge}`,
      `link set ${member.name} up`,
      `-n ${member.name} addr add ${member.address}/24 dev ${inside}`,
      `-n ${member.name} link set ${inside} up`,
      `-n ${member.name} link set lo up`,
    ]);
    if (!ok) throw new Error(`the namespace ${member.name} cannot be made`);
    return member;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { name } of this.#members) {
      await ip(`link del ${name}`);
      await ip(`netns del ${name}`);
    }
    await ip(`link del ${this.#bridge}`);
  }
}

export class NetworkMember {
  readonly name: string;
  readonly address: string;
  readonly #bridge: string;

  constructor({ name, address, bridge }: { readonly name: string; readonly address: string; readonly bridge: string }) {
    this.name = name;
    this.address = address;
    this.#bridge = bridge;
  }

  /** Takes its cable out of the switch, or puts it back: all packets vanish both ways, and its own link stays up. */
  async silence(isSilent: boolean): Promise<void> {
    const done = await ip(`link set ${this.name} ${isSilent ? 'nomaster' : `master ${this.#bridge}`}`);
    if (!done) throw new Error(`the cable of ${this.name} cannot be moved`);
  }

  /**
   * Lets what this member sends to another vanish, without a refusal or a reset, or lets it through again. What comes the other way is not
   * touched.
   */
  async cut(to: Pick<NetworkMember, 'address'>, isCut: boolean): Promise<void> {
    const neighbour = `${to.address} dev ${this.name}p`;
    const nobody = '02:00:00:00:00:01';
    const done = isCut
      ? await ip(`-n ${this.name} neigh replace ${neighbour} lladdr ${nobody} nud permanent`)
      : await ip(`-n ${this.name} neigh del ${neighbour}`);
    if (!done) throw new Error(`the way from ${this.name} to ${to.address} cannot be changed`);
  }

  /** Disconnects the network, or connects it again. */
  async plug(up: boolean): Promise<void> {
    await ip(`link set ${this.name} ${up ? 'up' : 'down'}`);
  }
}

async function all(steps: readonly string[]): Promise<boolean> {
  for (const step of steps) if (!(await ip(step))) return false;
  return true;
}

async function ip(step: string): Promise<boolean> {
  try {
    return (await run('ip', step.split(' '))).code === 0;
  } catch {
    return false;
  }
}

import { createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFakeGcs } from './fake-gcs.ts';
import { askedHeaders, isSigned, signatureProblem } from './google-signatures.ts';
import { ResumableUploads, type StoreAnswer } from './google-resumable.ts';
import { XmlUploads } from './google-uploads.ts';
import { parseCondition, type Condition, type ConditionRequest } from './cel-condition.ts';

/**
 * Google's token service and the rights of its store, before fake-gcs-server, which checks no token. It gives tokens to service accounts that
 * sign for them, exchanges them for tokens with a boundary, and lets a request through when its token's boundary has a rule for it.
 */
export type Google = AsyncDisposable & {
  /** Store, token service and metadata server at once: `http://127.0.0.1:port`. It has the bucket `warehouse`. */
  readonly endpoint: string;
  /** The file of a service account, as JSON. */
  readonly accountFile: string;
  /** The account's own token, which may do everything. */
  readonly token: string;
  /** A line of the account's private key. */
  readonly keyText: string;
  /** All tokens that were given, but for `token`, and the private key: nothing may tell them. */
  readonly secrets: readonly string[];
  makeBucket(name: string): Promise<void>;
  /** Tokens given from now on end so soon, in truth and as they say. */
  setTokenLife(ms: number): void;
  /** The service's clock is so much ahead of this machine's. */
  setClock(aheadMs: number): void;
  /** Gives this machine's account a token when it is asked as a metadata server. */
  setMachine(isGoogles: boolean): void;
  takeExchanges(): number;
  /** Tokens are given for another boundary than the one that came: all of the bucket, to write. */
  setWide(isWide: boolean): void;
  /** Uploads of both APIs of which parts have come, that are no objects yet, and that nobody has ended. */
  openUploads(): number;
  /** Ends the store, which forgets such uploads; the token service stays. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

type Rule = { readonly bucket: string; readonly writes: boolean; readonly reads: boolean; readonly allows: Condition };
type Grant = { readonly rules: readonly Rule[] | null; readonly endsMs: number };

const EMAIL = 'skein@project.iam.gserviceaccount.com';

export async function startGoogle(): Promise<Google> {
  await using started = new AsyncDisposableStack();
  const google = new GoogleServer();
  started.defer(() => google.close());
  await google.open();
  const store = started.use(await startFakeGcs(google.host));
  google.upstream = store.endpoint;
  await google.makeBucket('warehouse');
  const all = started.move();
  return {
    endpoint: `http://${google.host}`,
    accountFile: google.accountFile(),
    token: google.give(null, 86_400_000),
    keyText: google.secrets[0] ?? '',
    secrets: google.secrets,
    makeBucket: (name) => google.makeBucket(name),
    setTokenLife: (ms) => (google.lifeMs = ms),
    setClock: (aheadMs) => (google.aheadMs = aheadMs),
    setMachine: (isGoogles) => (google.isMachine = isGoogles),
    setWide: (isWide) => (google.isWide = isWide),
    takeExchanges: () => {
      const { exchanges } = google;
      google.exchanges = 0;
      return exchanges;
    },
    openUploads: () => google.openUploads(),
    kill: () => store.kill(),
    start: () => store.start(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

class GoogleServer {
  upstream = '';
  lifeMs = 3_600_000;
  aheadMs = 0;
  isMachine = false;
  isWide = false;
  exchanges = 0;
  readonly secrets: string[] = [];
  readonly #grants = new Map<string, Grant>();
  readonly #sessions = new ResumableUploads();
  readonly #parts = new XmlUploads();
  readonly #keys = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  readonly #server = createServer((incoming, answer) => {
    this.#handle(incoming, answer).catch(() => answer.destroy());
  });

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.secrets.push(this.#keys.privateKey.split('\n')[3] ?? '');
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  accountFile(): string {
    return JSON.stringify({
      type: 'service_account',
      project_id: 'project',
      private_key_id: 'key-1',
      private_key: this.#keys.privateKey,
      client_email: EMAIL,
      client_id: '1',
      token_uri: `http://${this.host}/token`,
    });
  }

  give(rules: readonly Rule[] | null, lifeMs = this.lifeMs): string {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.#grants.set(token, { rules, endsMs: Date.now() + lifeMs });
    return token;
  }

  async makeBucket(name: string): Promise<void> {
    const answer = await fetch(`${this.upstream}/storage/v1/b`, {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { 'content-type': 'application/json' },
    });
    if (!answer.ok) throw new Error(`no bucket ${name}: ${answer.status}`);
  }

  async #handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await bytesOf(incoming as AsyncIterable<Buffer>);
    const url = new URL(incoming.url ?? '/', `http://${this.host}`);
    answer.setHeader('date', new Date(Date.now() + this.aheadMs).toUTCString());
    if (url.pathname === '/token') return this.#giveToken(new URLSearchParams(body.toString()), answer);
    if (url.pathname === '/v1/token') return this.#exchange(new URLSearchParams(body.toString()), answer);
    if (url.pathname.startsWith('/computeMetadata/')) return this.#machineToken(incoming, answer);
    if (isSigned(incoming.url ?? '')) return this.#answerSigned(incoming, body, answer);
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
    const grant = this.#grants.get(token);
    if (grant === undefined || grant.endsMs < Date.now()) return refuse(answer, 401, 'authError');
    if (!isAllowed(grant, incoming.method ?? '', url, body)) return refuse(answer, 403, 'forbidden');
    if (hasDots(url)) return refuse(answer, 404, 'notFound');
    if (await this.#answerUpload(incoming, body, answer)) return;
    if (this.#sessions.answer(url, incoming, answer)) return;
    await this.#forward(incoming, body, answer);
  }

  /** By an address that the account has signed; another answer than to a token, in XML. */
  async #answerSigned(incoming: IncomingMessage, body: Buffer, answer: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = incoming;
    const account = { email: EMAIL, publicKey: this.#keys.publicKey };
    const request = { method, target, headers, bodyBytes: body.length };
    const problem = signatureProblem(request, account, Date.now() + this.aheadMs);
    if (problem === undefined) {
      if (await this.#answerUpload(incoming, body, answer)) return;
      return this.#forward(incoming, body, answer, askedHeaders(target));
    }
    const status = problem.startsWith('Entity') || problem === 'InvalidArgument' ? 400 : 403;
    answer.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${problem}</Code></Error>`);
  }

  /** Answers requests of uploads in parts, which fake-gcs-server does not have. @returns whether it was one */
  async #answerUpload(incoming: IncomingMessage, body: Buffer, answer: ServerResponse): Promise<boolean> {
    const { method = '', headers } = incoming;
    const url = new URL(incoming.url ?? '/', `http://${this.host}`);
    const given = await this.#parts.answer({ method, url, headers, body }, async (object, bytes) => {
      const resource = { name: object.key, metadata: metadataIn(object.headers) };
      const boundary = randomBytes(16).toString('hex');
      const lines = `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(resource)}\r\n--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`;
      const made = await fetch(`${this.upstream}/upload/storage/v1/b/${object.bucket}/o?uploadType=multipart`, {
        method: 'POST',
        headers: { 'content-type': `multipart/related; boundary=${boundary}` },
        body: Buffer.concat([Buffer.from(lines), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
      });
      if (!made.ok) throw new Error(`the upload made no object: ${made.status}`);
    });
    if (given === undefined) return false;
    answer.writeHead(given.status, given.headers).end(given.body);
    return true;
  }

  #giveToken(form: URLSearchParams, answer: ServerResponse): void {
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const isSigned = createVerify('RSA-SHA256')
      .update(`${header}.${claims}`)
      .verify(this.#keys.publicKey, signature, 'base64url');
    const { iss, iat, exp, aud, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as Record<
      string,
      unknown
    >;
    const now = (Date.now() + this.aheadMs) / 1_000;
    const isTimely = Math.abs(Number(iat) - now) < 600 && Number(exp) > now && Number(exp) - Number(iat) <= 3_600;
    const isWide = String(scope).split(' ').includes('https://www.googleapis.com/auth/cloud-platform');
    if (!isSigned || iss !== EMAIL || aud !== `http://${this.host}/token` || !isTimely || !isWide) {
      return json(answer, 400, { error: 'invalid_grant', error_description: `Invalid JWT: ${form.get('assertion')}` });
    }
    const access_token = this.give(null);
    this.secrets.push(access_token);
    json(answer, 200, { access_token, expires_in: Math.floor(this.lifeMs / 1_000), token_type: 'Bearer' });
  }

  #exchange(form: URLSearchParams, answer: ServerResponse): void {
    this.exchanges += 1;
    const source = this.#grants.get(form.get('subject_token') ?? '');
    const isExchange = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange';
    if (!isExchange || source === undefined || source.rules !== null) {
      return json(answer, 400, { error: 'invalid_request' });
    }
    try {
      const asked = rulesOf(form.get('options') ?? '');
      const wide = asked.map(({ bucket }) => ({ bucket, reads: true, writes: true, allows: () => true }));
      const access_token = this.give(this.isWide ? wide : asked);
      this.secrets.push(access_token);
      json(answer, 200, { access_token, expires_in: Math.floor(this.lifeMs / 1_000), token_type: 'Bearer' });
    } catch (error) {
      json(answer, 400, { error: 'invalid_request', error_description: String(error) });
    }
  }

  #machineToken(incoming: IncomingMessage, answer: ServerResponse): void {
    if (!this.isMachine || incoming.headers['metadata-flavor'] !== 'Google') return refuse(answer, 404, 'notFound');
    const access_token = this.give(null);
    this.secrets.push(access_token);
    json(answer, 200, { access_token, expires_in: Math.floor(this.lifeMs / 1_000), token_type: 'Bearer' });
  }

  openUploads(): number {
    return this.#sessions.open + this.#parts.open;
  }

  async #forward(
    incoming: IncomingMessage,
    body: Buffer,
    answer: ServerResponse,
    asked: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { hostname, port } = new URL(this.upstream);
    const { authorization: _authorization, ...headers } = incoming.headers;
    const { promise, resolve, reject } = Promise.withResolvers<StoreAnswer>();
    const request = httpRequest(
      {
        hostname,
        port,
        method: incoming.method,
        path: incoming.url,
        // It compares the host with its public one.
        headers: { ...headers, host: this.host, 'content-length': body.length },
      },
      (given) => {
        bytesOf(given as AsyncIterable<Buffer>).then(
          (bytes) => resolve({ status: given.statusCode ?? 500, headers: given.headers, body: bytes }),
          reject,
        );
      },
    );
    request.on('error', reject).end(body);
    const given = await promise;
    this.#sessions.note(new URL(incoming.url ?? '/', `http://${this.host}`), headers['content-range'] ?? '', given);
    const { date: _date, 'transfer-encoding': _encoding, ...rest } = given.headers;
    const length = incoming.method === 'HEAD' ? {} : { 'content-length': given.body.length };
    answer.writeHead(given.status, { ...rest, ...length, ...asked }).end(given.body);
  }
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @throws on a boundary that Google's service would refuse */
function rulesOf(options: string): readonly Rule[] {
  const { accessBoundary } = JSON.parse(options) as {
    accessBoundary: {
      accessBoundaryRules: readonly {
        availableResource: string;
        availablePermissions: readonly string[];
        availabilityCondition?: { expression: string };
      }[];
    };
  };
  const rules = accessBoundary.accessBoundaryRules;
  if (rules.length === 0 || rules.length > 10) throw new Error('a boundary has 1 to 10 rules');
  return rules.map(({ availableResource, availablePermissions, availabilityCondition }) => {
    const [, bucket] =
      /^\/\/storage\.googleapis\.com\/projects\/_\/buckets\/([a-z0-9._-]+)$/.exec(availableResource) ?? [];
    if (bucket === undefined) throw new Error(`no resource: ${availableResource}`);
    const roles = new Set(availablePermissions);
    const known = ['inRole:roles/storage.objectViewer', 'inRole:roles/storage.objectUser'];
    if (roles.size === 0 || ![...roles].every((role) => known.includes(role))) throw new Error('unknown roles');
    const writes = roles.has('inRole:roles/storage.objectUser');
    const expression = availabilityCondition?.expression;
    return { bucket, writes, reads: true, allows: expression === undefined ? () => true : parseCondition(expression) };
  });
}

type Access = ConditionRequest & { readonly bucket: string; readonly isWrite: boolean };

/** Everything that a request asks for: all of it has to be allowed. An empty list = nobody knows. */
function accessesOf(method: string, url: URL, body: Buffer): readonly Access[] {
  const isWrite = method !== 'GET' && method !== 'HEAD';
  const object = (bucket: string, key: string, writes = isWrite): Access => ({
    bucket,
    isWrite: writes,
    resourceName: `projects/_/buckets/${bucket}/objects/${key}`,
    listPrefix: '',
  });
  const decoded = (text: string | undefined): string => decodeURIComponent(text ?? '');
  const copy = /^\/storage\/v1\/b\/([^/]+)\/o\/([^/]+)\/rewriteTo\/b\/([^/]+)\/o\/([^/]+)$/.exec(url.pathname);
  if (copy !== null) {
    return [object(decoded(copy[1]), decoded(copy[2]), false), object(decoded(copy[3]), decoded(copy[4]))];
  }
  const upload = /^\/upload\/storage\/v1\/b\/([^/]+)\/o$/.exec(url.pathname);
  if (upload !== null) {
    const name = url.searchParams.get('name') ?? /"name":("(?:[^"\\]|\\.)*")/.exec(body.toString('latin1'))?.[1];
    if (name === undefined) return [];
    // The body is read byte for byte: names in it may have more than one each.
    const key = name.startsWith('"') ? Buffer.from(JSON.parse(name) as string, 'latin1').toString() : name;
    return [object(decoded(upload[1]), key)];
  }
  const resource = /^\/storage\/v1\/b\/([^/]+)\/o\/([^/]+)$/.exec(url.pathname);
  if (resource !== null) return [object(decoded(resource[1]), decoded(resource[2]))];
  const list = /^\/storage\/v1\/b\/([^/]+)\/o\/?$/.exec(url.pathname);
  if (list !== null && !isWrite) {
    const bucket = decoded(list[1]);
    const listPrefix = url.searchParams.get('prefix') ?? '';
    return [{ bucket, isWrite, resourceName: `projects/_/buckets/${bucket}`, listPrefix }];
  }
  const xml = /^\/([^/]+)\/(.+)$/.exec(url.pathname);
  if (xml !== null && !/^(?:storage|upload|download|batch)$/.test(decoded(xml[1]))) {
    return [object(decoded(xml[1]), decoded(xml[2]))];
  }
  return [];
}

/** Whether a name has `..` in it: to Google's store a name like any other, which nobody has made here; fake-gcs-server climbs its folders by it. */
const hasDots = ({ pathname }: URL): boolean => decodeURIComponent(pathname).split('/').includes('..');

function isAllowed({ rules }: Grant, method: string, url: URL, body: Buffer): boolean {
  if (rules === null) return true;
  const accesses = accessesOf(method, url, body);
  const mayDo = (access: Access): boolean =>
    rules.some((rule) => rule.bucket === access.bucket && (rule.writes || !access.isWrite) && rule.allows(access));
  return accesses.length > 0 && accesses.every(mayDo);
}

const metadataIn = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-goog-meta-') ? [[name.slice('x-goog-meta-'.length), value]] : [],
    ),
  );

const json = (answer: ServerResponse, status: number, value: unknown): void =>
  void answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const refuse = (answer: ServerResponse, status: number, reason: string): void =>
  json(answer, status, { error: { code: status, message: reason, errors: [{ reason }] } });

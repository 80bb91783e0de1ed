import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { attachmentOf, BYTES_TYPE } from '#shared/stage/attachment.ts';
import { peerOf, type Newcomers } from '#shared/newcomers/newcomers.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { StageAsker } from '../../stage/open-stage.ts';
import type { StageService } from '../../stage/stage-service.ts';
import type { Transfers } from '../../stage/transfers.ts';
import { FILES_PATH, type SignedRequest } from '../../stage/signed-url.ts';
import type { DocumentedApp } from './documented-app.ts';
import { sendError } from './error-reply.ts';
import { sessionKey } from './post-query.ts';
import { ABORT_UPLOAD, COMPLETE_UPLOAD, GET_FILE, INIT_UPLOAD, PRESIGN, PUT_FILE } from './stage-operations.ts';

/** Bodies that the main thread parses: the parts of an upload, the files of a request for URLs. */
const BODY_BYTES_MAX = 2 ** 20;

export type StageApi = {
  readonly service: StageService;
  readonly transfers: Transfers;
  readonly askerOf: (caller: Caller, session: SessionKey) => StageAsker;
  /** `coordinator.url`; empty = as the request names it. */
  readonly url: string;
};

type Options = {
  readonly stages: StageApi;
  readonly newcomers: Newcomers;
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
  readonly log: Logger;
};

/** The routes of `/v1/stages`: signed URLs and uploads in parts; and those that the signed URLs lead to. */
export function stageRoutes(app: DocumentedApp, options: Options): void {
  void app.register((routes, _options, done) => {
    routes.removeContentTypeParser('application/json');
    routes.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      routes.getDefaultJsonParser('error', 'error'),
    );
    requestRoutes(routes, options);
    done();
  });
  void app.register((routes, _options, done) => {
    // A body of any type is the bytes of a file.
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    fileRoutes(routes, options);
    done();
  });
}

function requestRoutes(app: DocumentedApp, { stages, onRequest, callerOf }: Options): void {
  const { service } = stages;
  const asker = (request: FastifyRequest): StageAsker => {
    const caller = callerOf(request);
    return stages.askerOf(caller, sessionKey(request, caller));
  };
  const base = ({ protocol, host }: FastifyRequest): string =>
    stages.url === '' ? `${protocol}://${host}` : stages.url.replace(/\/$/, '');
  const ms = (seconds: number | undefined): number | null => (seconds === undefined ? null : seconds * 1_000);
  const route = { onRequest, bodyLimit: BODY_BYTES_MAX };

  app.post('/v1/stages/presign', { ...route, schema: PRESIGN }, async (request) => {
    const { stage, files, method = 'PUT', expires_in: seconds, through } = request.body;
    const urls = await service.presign(asker(request), base(request), {
      stage,
      files: files.map(wantedFile),
      method,
      expiresInMs: ms(seconds),
      through,
    });
    return { urls: urls.map(({ expiresAtMs, ...url }) => ({ ...url, 'expires-at-ms': expiresAtMs })) };
  });
  app.post('/v1/stages/presign/multipart/init', { ...route, schema: INIT_UPLOAD }, async (request) => {
    const { stage, path, size = null, part_size: partBytes = null, expires_in: seconds, through } = request.body;
    const named = { stage, path, sizeBytes: size, partBytes, expiresInMs: ms(seconds), through };
    const { upload, parts, expiresAtMs } = await service.begin(asker(request), base(request), named);
    return {
      upload_id: upload.id,
      part_size: upload.partBytes,
      parts: parts.map(({ number, url }) => ({ part_number: number, url })),
      'expires-at-ms': expiresAtMs,
    };
  });
  app.post('/v1/stages/presign/multipart/complete', { ...route, schema: COMPLETE_UPLOAD }, async (request) => {
    const { stage, path, upload_id: uploadId, parts } = request.body;
    const sent = parts.map(({ part_number: number, etag }) => ({ number, etag: etag.replaceAll('"', '') }));
    const file = await service.complete(asker(request), { stage, path, uploadId }, sent);
    return { path: file.path, size: file.sizeBytes, etag: file.etag };
  });
  app.post('/v1/stages/presign/multipart/abort', { ...route, schema: ABORT_UPLOAD }, async (request, reply) => {
    const { stage, path, upload_id: uploadId } = request.body;
    await service.abort(asker(request), { stage, path, uploadId });
    return reply.code(204).send();
  });
}

type NamedFile = {
  readonly path: string;
  readonly size?: number;
  readonly upload_id?: string;
  readonly part_number?: number;
};

/** @throws INVALID_REQUEST for half a part */
function wantedFile({ path, size, upload_id: uploadId, part_number: number }: NamedFile) {
  const file = { path, ...(size === undefined ? {} : { size }) };
  if (uploadId === undefined && number === undefined) return file;
  if (uploadId !== undefined && number !== undefined) return { ...file, part: { uploadId, number } };
  throw new SkeinError('INVALID_REQUEST', 'upload_id and part_number go together');
}

/** Requests by a signed URL, which is all the authentication that they have: it is checked before a byte of the body is read. */
function fileRoutes(app: DocumentedApp, { stages, newcomers, log }: Options): void {
  const { service, transfers } = stages;
  const signedOf = (request: FastifyRequest): SignedRequest => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const { signature = '' } = request.query as { readonly signature?: string };
    const signed = service.verify(signature, { method: request.method, path });
    newcomers.signedIn(peerOf(request.socket));
    return signed;
  };

  const onPut = { schema: PUT_FILE, config: { streamsBody: true } };
  app.put(`${FILES_PATH}/*`, onPut, async (request, reply) => {
    try {
      const signed = signedOf(request);
      using _transfer = transfers.begin(signed.principal.sub);
      const length = request.headers['content-length'];
      const lengths = {
        declared: length === undefined ? null : Number(length),
        wanted: signed.sizeBytes ?? null,
      };
      // Without a body, the parser has not been asked.
      const body = (request.body as Readable | undefined) ?? Readable.from([]);
      const { path, sizeBytes, etag } = await service.put(signed, transfers.receive(body, lengths));
      return await reply.header('etag', `"${etag}"`).send({ path, size: sizeBytes, etag });
    } catch (error) {
      // The rest of the body is not wanted.
      if (!request.raw.complete) void reply.header('connection', 'close');
      return sendError(reply, error, log, true);
    }
  });

  app.get(`${FILES_PATH}/*`, { schema: GET_FILE }, async (request, reply) => {
    const signed = signedOf(request);
    using stack = new DisposableStack();
    stack.use(transfers.begin(signed.principal.sub));
    const opened = await service.open(signed);
    const { sizeBytes, etag } = opened.file;
    const range = rangeOf(request.headers.range, sizeBytes);
    const { begin, end } = range ?? { begin: 0, end: sizeBytes };
    const transfer = stack.move();
    const chunks = transfers.send(opened.chunks(begin, end), () => reply.raw.destroy());
    void reply
      .code(range === null ? 200 : 206)
      .type(BYTES_TYPE)
      .header('etag', `"${etag}"`)
      .header('accept-ranges', 'bytes')
      .header('content-length', end - begin)
      .header('content-disposition', attachmentOf(signed.path))
      .header('x-content-type-options', 'nosniff');
    if (range !== null) void reply.header('content-range', `bytes ${begin}-${end - 1}/${sizeBytes}`);
    return sendChunks(reply, chunks, async () => {
      transfer.dispose();
      await opened[Symbol.asyncDispose]();
    });
  });
}

/** @param onEnd called once, whatever the end */
function sendChunks(reply: FastifyReply, chunks: AsyncGenerator<Buffer>, onEnd: () => Promise<void>): FastifyReply {
  const stream = Readable.from(chunks, { objectMode: false });
  stream.once('close', () => void onEnd());
  return reply.send(stream);
}

/** The bytes `[begin, end)` of a header `Range`; null for none, and for one of several ranges, which is answered with all. @throws INVALID_REQUEST */
function rangeOf(
  header: string | undefined,
  sizeBytes: number,
): { readonly begin: number; readonly end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  const begin = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (begin < end) return { begin, end };
  throw new SkeinError('INVALID_REQUEST', `the file has ${sizeBytes} bytes: the range lies behind them`);
}

import { Type } from 'typebox';
import type { ErrorCode } from '#shared/error.ts';
import { PART_BYTES_MIN, PARTS_MAX } from '../../stage/stage-urls.ts';
import { errors, json } from './operation-parts.ts';
import { record, UUID } from '../../profile/schema-parts.ts';

/** The operations on files of stages (service specification, `/v1/stages`). */

/** Files of one request for URLs. */
const FILES_MAX = 1_000;
/** A path, or the name of a stage. */
const TEXT_LENGTH_MAX = 4_096;
/** 2^53 - 1 */
const SIZE_MAX = Number.MAX_SAFE_INTEGER;
const DAY_S = 86_400;

const STAGE = Type.String({
  maxLength: TEXT_LENGTH_MAX,
  description: 'The stage as a statement names it, with or without `@`: `stage`, `schema.stage`, `~` for your own',
});
const PATH = Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'Path of the file in the stage' });
const SIZE = Type.Integer({ minimum: 0, maximum: SIZE_MAX, description: 'Bytes of the file' });
const EXPIRES = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 366 * DAY_S, description: 'Seconds for which the URLs are good' }),
);
const EXPIRES_AT = Type.Integer({ description: 'Time at which it expires, in ms since 1970' });
const PART_NUMBER = Type.Integer({ minimum: 1, maximum: PARTS_MAX, description: 'From 1' });
const SESSION = Type.Object({
  'x-skein-session': Type.Optional(Type.String({ ...UUID, description: 'The session whose catalog and schema apply' })),
});

const NAMES: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'SYNTAX_ERROR',
  'FORBIDDEN',
  'CATALOG_NOT_FOUND',
  'SCHEMA_NOT_FOUND',
  'STAGE_NOT_FOUND',
];

const THROUGH = Type.Optional(
  Type.Unsafe<'coordinator'>({
    type: 'string',
    enum: ['coordinator'],
    description: 'Also over a bucket the bytes go through the coordinator: for a page, which other hosts refuse',
  }),
);

export const PRESIGN = {
  operationId: 'presignFiles',
  summary: 'URLs by which files are put into a stage, or read from it, without a token',
  description:
    'A URL is for one path and one method, until it expires. A file that is put replaces the one of its path when it is whole. A `size` is ' +
    'held to: a body of another length is refused. `upload_id` and `part_number` ask for the URL of a part anew. Over a bucket the URLs are the ' +
    'store’s own, which answers in its own words.',
  headers: SESSION,
  body: record({
    stage: STAGE,
    files: Type.Array(
      record({
        path: PATH,
        size: Type.Optional(SIZE),
        upload_id: Type.Optional(UUID),
        part_number: Type.Optional(PART_NUMBER),
      }),
      { minItems: 1, maxItems: FILES_MAX },
    ),
    method: Type.Optional(
      Type.Unsafe<'PUT' | 'GET'>({ type: 'string', enum: ['PUT', 'GET'], description: 'PUT when left out' }),
    ),
    expires_in: EXPIRES,
    through: THROUGH,
  }),
  response: {
    200: json(
      record({
        urls: Type.Array(
          record({
            path: PATH,
            method: Type.Unsafe<'PUT' | 'GET'>({ type: 'string', enum: ['PUT', 'GET'] }),
            url: Type.String(),
            headers: Type.Record(Type.String(), Type.String(), { description: 'To be sent with the request' }),
            'expires-at-ms': EXPIRES_AT,
          }),
        ),
      }),
      'A URL for each file, in their order',
    ),
    ...errors([...NAMES, 'PAYLOAD_TOO_LARGE', 'UPLOAD_NOT_FOUND', 'STORAGE_ERROR']),
  },
};

export const INIT_UPLOAD = {
  operationId: 'initUpload',
  summary: 'Begin an upload in parts',
  description:
    'The parts may be sent at once and in any order, and again; every part but the last has `part_size` bytes, at least 5 MiB over a bucket. Of a file without `size` 100 parts ' +
    'are planned. An upload that is not completed is deleted after the upload_ttl of its stage.',
  headers: SESSION,
  body: record({
    stage: STAGE,
    path: PATH,
    size: Type.Optional(SIZE),
    part_size: Type.Optional(
      Type.Integer({ minimum: PART_BYTES_MIN, maximum: SIZE_MAX, description: 'Bytes of a part' }),
    ),
    expires_in: EXPIRES,
    through: THROUGH,
  }),
  response: {
    200: json(
      record({
        upload_id: UUID,
        part_size: Type.Integer(),
        parts: Type.Array(record({ part_number: PART_NUMBER, url: Type.String({ description: 'To be PUT to' }) })),
        'expires-at-ms': EXPIRES_AT,
      }),
      'The upload and a URL for each part',
    ),
    ...errors([...NAMES, 'PAYLOAD_TOO_LARGE', 'QUEUE_FULL', 'STORAGE_ERROR']),
  },
};

export const COMPLETE_UPLOAD = {
  operationId: 'completeUpload',
  summary: 'Put the parts of an upload together',
  description: 'It may be sent again until it is answered.',
  headers: SESSION,
  body: record({
    stage: STAGE,
    path: PATH,
    upload_id: UUID,
    parts: Type.Array(
      record({
        part_number: PART_NUMBER,
        etag: Type.String({
          maxLength: 100,
          description: 'As the PUT answered it; the MD5 of the bytes where it answered none',
        }),
      }),
      {
        minItems: 1,
        maxItems: PARTS_MAX,
      },
    ),
  }),
  response: {
    200: json(record({ path: PATH, size: SIZE, etag: Type.String() }), 'The file'),
    ...errors([...NAMES, 'STORAGE_FULL', 'STORAGE_ERROR', 'UPLOAD_NOT_FOUND']),
  },
};

export const ABORT_UPLOAD = {
  operationId: 'abortUpload',
  summary: 'End an upload in parts without a file',
  headers: SESSION,
  body: record({ stage: STAGE, path: PATH, upload_id: UUID }),
  response: {
    204: { type: 'null', description: 'It has ended' },
    ...errors([...NAMES, 'UPLOAD_NOT_FOUND']),
  },
};

const SIGNED = {
  params: Type.Object({ '*': PATH }),
  querystring: Type.Object({
    signature: Type.String({ maxLength: 16_384, description: 'What the URL was signed with' }),
  }),
  security: [],
};

export const PUT_FILE = {
  ...SIGNED,
  operationId: 'putStageFile',
  summary: 'Put a file, or a part of one, by a signed URL',
  description: 'The body is the bytes, of any content type. The answer has the ETag.',
  response: {
    200: json(record({ path: PATH, size: SIZE, etag: Type.String() }), 'It is stored'),
    ...errors([
      'INVALID_REQUEST',
      'URL_NOT_VALID',
      'FORBIDDEN',
      'PAYLOAD_TOO_LARGE',
      'QUEUE_FULL',
      'STORAGE_FULL',
      'STORAGE_ERROR',
      'STAGE_NOT_FOUND',
      'UPLOAD_NOT_FOUND',
    ]),
  },
};

export const GET_FILE = {
  ...SIGNED,
  operationId: 'getStageFile',
  summary: 'Read a file by a signed URL',
  description: 'One range (`Range: bytes=a-b`) is answered with 206.',
  response: {
    200: {
      description: 'The file',
      content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
    },
    206: {
      description: 'The range',
      content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
    },
    ...errors([
      'INVALID_REQUEST',
      'URL_NOT_VALID',
      'FORBIDDEN',
      'QUEUE_FULL',
      'STORAGE_ERROR',
      'STAGE_NOT_FOUND',
      'STAGE_FILE_NOT_FOUND',
    ]),
  },
};

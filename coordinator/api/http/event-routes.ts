import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import type { Events } from '../../observe/event-hub.ts';
import { TOPICS, type EventSink, type Topic } from '../../observe/event-stream.ts';
import type { DocumentedApp } from './documented-app.ts';
import { STREAM_EVENTS } from './observe-operations.ts';

type Options = {
  readonly events: Events;
  readonly authenticate: Authenticate;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy passes each event on as it comes.
  'x-accel-buffering': 'no',
} as const;

/** The route of the events: a stream that lasts until its reader leaves, or its token ends. */
export function eventRoutes(app: DocumentedApp, { events, authenticate, onRequest, callerOf }: Options): void {
  app.get('/api/events', { schema: STREAM_EVENTS, onRequest }, (request, reply) => {
    const response = reply.raw;
    const { authorization, 'last-event-id': after = null } = request.headers;
    const left = events.open(
      callerOf(request),
      { topics: topicsOf(request.query.topics), after, reauthenticate: () => authenticate(authorization) },
      sinkOf(response),
    );
    response.once('close', left);
    void reply.hijack();
  });
}

const topicsOf = (list: string | undefined): ReadonlySet<Topic> =>
  new Set(list === undefined ? TOPICS : TOPICS.filter((topic) => list.split(',').includes(topic)));

/** The head is sent with the first text, so that a stream that is refused has its status. */
const sinkOf = (response: ServerResponse): EventSink => ({
  get pendingBytes() {
    return response.writableLength;
  },
  write: (text) => {
    if (!response.headersSent) response.writeHead(200, HEAD);
    response.write(text);
  },
  end: () => void response.end(),
  destroy: () => void response.destroy(),
});

import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';

/** Maximum number of messages that a coordinator may lag behind. A slower one is disconnected, and begins again. */
const BEHIND_MAX = 10_000;

/**
 * Serves a stream to a coordinator until either side ends it; another caller is refused. `begin` gets what sends a message, and returns what
 * is to be done at the end, which may be called more than once.
 */
export function serveCoordinator<Message>(
  security: ChannelSecurity,
  call: ServerWritableStream<unknown, Message> | ServerDuplexStream<unknown, Message>,
  begin: (send: (message: Message) => void) => () => void,
): void {
  try {
    security.admit(call, ['coordinator']);
  } catch (error) {
    call.emit('error', toServiceError(error));
    return;
  }
  const end = begin((message) => {
    if (call.writableLength > BEHIND_MAX) call.end();
    else call.write(message);
  });
  for (const event of ['cancelled', 'close', 'error']) call.on(event, end);
}

import type { Config } from '#shared/config/config-schema.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Authenticate } from '../../auth/authenticate.ts';
import type { SignIn } from '../../auth/sign-in.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { SessionServices } from '../../session/session-services.ts';
import type { Backends } from './backends.ts';

/** All that a connection of the Postgres wire works with. */
export type PostgresDoor = {
  readonly queries: QueryService;
  readonly sessions: SessionServices;
  readonly authenticate: Authenticate;
  readonly signIn: SignIn;
  /** Whether the rights of a token are as they were, though it may have expired. @throws UNAUTHENTICATED */
  readonly stillHolds: (token: string) => Promise<void>;
  readonly tls: DoorTls | undefined;
  /** The reason why this coordinator serves nothing now; undefined when it does. */
  readonly standby: () => string | undefined;
  readonly backends: Backends;
  readonly config: Config;
  readonly log: Logger;
};

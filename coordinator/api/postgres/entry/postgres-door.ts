import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { ByteBudget } from '#shared/byte-budget.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Authenticate } from '../../../auth/authenticate.ts';
import type { SignIn } from '../../../auth/sign-in.ts';
import type { ArrivalPlace } from '../../../arrival/arrived-rows.ts';
import type { ClientTexts } from '../../../client-texts.ts';
import type { QueryService } from '../../../query/query-service.ts';
import type { SessionServices } from '../../../session/session-services.ts';
import type { Backends } from './backends.ts';
import type { IdleWatch } from './idle-watch.ts';

/** All that a connection of the Postgres wire works with. */
export type PostgresDoor = {
  readonly queries: QueryService;
  readonly sessions: SessionServices;
  readonly authenticate: Authenticate;
  readonly signIn: SignIn;
  /** Whether rights are as they were when a token was given, which may have expired. @throws UNAUTHENTICATED, CATALOG_UNAVAILABLE */
  readonly requireEpoch: (claims: TokenClaims) => void;
  /** The place of the rows that clients send. */
  readonly arrivals: Omit<ArrivalPlace, 'owner'>;
  readonly texts: ClientTexts;
  readonly tls: DoorTls | undefined;
  /** The reason why this coordinator serves nothing now; undefined when it does. */
  readonly standby: () => string | undefined;
  /** It hands over the lead: a connection ends with its transaction. */
  readonly isLeaving: () => boolean;
  readonly backends: Backends;
  /** Memory for what clients have sent. */
  readonly bodies: ByteBudget;
  readonly idle: IdleWatch;
  readonly config: Config;
  readonly log: Logger;
};

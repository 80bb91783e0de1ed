import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { ArrivalPlace } from '../../arrival/arrived-rows.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { SessionServices } from '../../session/session-services.ts';
import type { FlightResults } from './flight-results.ts';
import type { FlightTransactions } from './flight-transactions.ts';
import type { PreparedHandles } from './prepared-handles.ts';
import type { Visits } from './visit.ts';

/** The parts that every call of the door works with. */
export type FlightDoor = {
  readonly visits: Visits;
  readonly queries: QueryService;
  readonly sessions: SessionServices;
  readonly results: FlightResults;
  readonly transactions: FlightTransactions;
  readonly prepared: PreparedHandles;
  /** Where rows that clients send lie. */
  readonly arrivals: Omit<ArrivalPlace, 'owner'>;
  readonly config: Config;
  /** The reason why this coordinator serves nothing now; undefined when it does. */
  readonly standby: () => string | undefined;
  readonly log: Logger;
};

import type { IncomingMessage } from "node:http";

/** A request with the moment of its arrival. A property and not a map, which would keep requests as it grows. */
type Arrived = IncomingMessage & { arrivedAt?: number };

/** When a request arrived at this process, on the clock of `performance`. Called first before the request waits for anything. */
export const arrivalOf = (request: IncomingMessage): number =>
  ((request as Arrived).arrivedAt ??= performance.now());

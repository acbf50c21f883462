import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Facts, Locals } from "./locals.ts";

/** Node's request. */
export interface Request extends IncomingMessage {
  /** The body, set by Express's parsers. */
  body?: unknown;
  /** See {@link noteArrival}. A property, because a growing map would keep requests alive. */
  arrivedAt?: number;
}

type Fact = keyof Facts;

/** Node's response, with the known facts about the request. */
export interface Response<Known extends Fact = never> extends ServerResponse {
  locals: Locals<Known>;
}

/** Passes a request on, with the facts that a middleware adds. */
export type Next<Adds extends Fact = never> = [Adds] extends [never]
  ? () => void
  : (added: Pick<Facts, Adds>) => void;

/**
 * Responds to a request, or calls `next` to pass it on. An error that it throws ends the pipeline.
 *
 *     const countUse: Middleware<"caller" | "served"> // needs two facts
 *     const negotiateLocale: Middleware<never, "locale"> // adds one
 */
export type Middleware<Needs extends Fact = never, Adds extends Fact = never> = (
  request: Request,
  response: Response<Needs>,
  next: Next<Adds>,
) => void | Promise<void>;

/** Responds to a request on which a middleware failed, or closes its connection. */
export type ErrorHandler = (error: unknown, request: Request, response: Response) => void;

/**
 * Passes requests through middlewares one after the other. The compiler checks that earlier middlewares add the facts that
 * a middleware needs. There are no routes, because Express's search for a route takes longer than most middlewares.
 */
export class Pipeline<Known extends Fact = never> {
  readonly #middlewares: readonly Middleware<Fact, Fact>[];

  constructor(middlewares: readonly Middleware<Fact, Fact>[] = []) {
    this.#middlewares = middlewares;
  }

  /** Returns the pipeline with another middleware at its end. */
  use<Needs extends Known, Adds extends Fact = never>(
    middleware: Middleware<Needs, Adds>,
  ): Pipeline<Known | Adds> {
    return new Pipeline([...this.#middlewares, middleware as Middleware<Fact, Fact>]);
  }

  /** Returns the pipeline with another middleware at its end, unless that is null. */
  useIfPresent<Needs extends Known>(middleware: Middleware<Needs> | null): Pipeline<Known> {
    return middleware ? this.use(middleware) : this;
  }

  /** Returns the listener that handles requests. The last middleware must respond to all requests that reach it. */
  listener(onError: ErrorHandler): RequestListener {
    const middlewares = this.#middlewares;
    return (request, plainResponse) => {
      noteArrival(request);
      const response = plainResponse as Response<Fact>;
      // The first middleware sets the id of the request
      const locals = (response.locals = {} as Locals<Fact>);
      const fail = (error: unknown) => onError(error, request, response);
      let position = 0;
      const next = (added?: Partial<Facts>) => {
        if (added !== undefined) Object.assign(locals, added);
        try {
          middlewares[position++]!(request, response, next)?.catch(fail);
        } catch (error) {
          fail(error);
        }
      };
      next();
    };
  }
}

/** Returns when a request arrived, on the clock of `performance`. The first call must come before any wait. */
export const noteArrival = (request: Request): number => (request.arrivedAt ??= performance.now());

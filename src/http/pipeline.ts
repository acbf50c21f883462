import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Facts, Locals } from "./locals.ts";

/** Node's request. */
export interface Request extends IncomingMessage {
  /** Its body, for parsers of Express. */
  body?: unknown;
  /** See {@link arrivalOf}. A property and not a map, which would keep requests as it grows. */
  arrivedAt?: number;
}

type Fact = keyof Facts;

/** Node's response, with what is known about the request. */
export interface Response<Known extends Fact = never> extends ServerResponse {
  locals: Locals<Known>;
}

/** Passes a request on, with the facts that a middleware has found out. */
export type Next<Adds extends Fact = never> = [Adds] extends [never]
  ? () => void
  : (added: Pick<Facts, Adds>) => void;

/**
 * Answers a request, or calls `next` to pass it on. An error that it throws ends the pipeline.
 *
 *     const countUse: Middleware<"caller" | "served"> // needs two facts
 *     const negotiateLocale: Middleware<never, "locale"> // finds one out
 */
export type Middleware<Needs extends Fact = never, Adds extends Fact = never> = (
  request: Request,
  response: Response<Needs>,
  next: Next<Adds>,
) => void | Promise<void>;

/** Answers a request on which a middleware failed, or ends its connection. */
export type ErrorHandler = (error: unknown, request: Request, response: Response) => void;

/**
 * Passes requests through middlewares one after the other. Each finds what it needs: the compiler knows the facts that
 * those before it add. It has no routes: Express searches its routes at each request, which takes longer than most
 * middlewares do.
 */
export class Pipeline<Known extends Fact = never> {
  readonly #middlewares: readonly Middleware<Fact, Fact>[];

  constructor(middlewares: readonly Middleware<Fact, Fact>[] = []) {
    this.#middlewares = middlewares;
  }

  /** The pipeline with another middleware at its end. */
  use<Needs extends Known, Adds extends Fact = never>(
    middleware: Middleware<Needs, Adds>,
  ): Pipeline<Known | Adds> {
    return new Pipeline([...this.#middlewares, middleware as Middleware<Fact, Fact>]);
  }

  /** The same, unless it is null. */
  useIfAny<Needs extends Known>(middleware: Middleware<Needs> | null): Pipeline<Known> {
    return middleware ? this.use(middleware) : this;
  }

  /** Answers requests; the last middleware answers all that reach it. */
  listener(onError: ErrorHandler): RequestListener {
    const middlewares = this.#middlewares;
    return (request, plainResponse) => {
      arrivalOf(request);
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

/** When a request arrived at this process, on the clock of `performance`. Called first before the request waits for anything. */
export const arrivalOf = (request: Request): number => (request.arrivedAt ??= performance.now());

import type { RequestListener } from "node:http";
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from "express";

/** A route that requests can take without being searched for. */
export interface DirectRoute {
  /** The address, without parameters. */
  path: string;
  params: Record<string, string>;
  stations: readonly RequestHandler[];
}

export interface DirectOptions {
  routes: readonly DirectRoute[];
  /** Stations that every request passes before. */
  common: readonly RequestHandler[];
  /** Answers what no station answered. */
  atTheEnd: RequestHandler;
  /** Answers errors of stations. */
  onError: ErrorRequestHandler;
}

/**
 * Lets POST requests to some addresses go straight to their stations. Express would find the same stations, but looks
 * at every route on the way, which takes it longer than most stations take. All other requests go through Express.
 */
export function directly(
  app: Express,
  { routes, common, atTheEnd, onError }: DirectOptions,
): RequestListener {
  const ways = new Map(
    routes.map((route) => [route.path, { ...route, stations: [...common, ...route.stations, atTheEnd] }]),
  );
  const go = (request: Request, response: Response, { params, stations }: DirectRoute): void => {
    // What Express does with each request
    Object.setPrototypeOf(request, app.request as object);
    Object.setPrototypeOf(response, app.response as object);
    request.res = response;
    request.params = params;
    request.baseUrl = "";
    request.originalUrl = request.url;
    response.req = request;
    response.locals = Object.create(null) as Response["locals"];
    let position = 0;
    const next: NextFunction = (error?: unknown): void => {
      if (error) return void onError(error, request, response, () => void response.destroy());
      try {
        const done: unknown = stations[position++]!(request, response, next);
        if (done instanceof Promise) done.catch(next);
      } catch (thrown) {
        next(thrown);
      }
    };
    next();
  };
  return (request, response) => {
    const way = request.method === "POST" ? ways.get(request.url!) : undefined;
    if (way) go(request as Request, response as Response, way);
    else app(request, response);
  };
}

import type { MetricObject } from "prom-client";
import type { PositionsFile } from "../replicas/positions.ts";

/** Default time for a stop, in milliseconds. Declared here so that the parent process doesn't load the modules that serve. */
export const defaultStopMs = 9_000;

/** The message that a worker process gets at its start. */
export interface WorkerStart<Options> {
  /** The options of its program, see `runWorker`. */
  options: Options;
  /** Whether it does background work: only the first process does. */
  isBackground: boolean;
  /** The file in which processes share the positions of clients' writes; null without replicas. */
  positions: PositionsFile | null;
}

/** Its response to that: it serves, or it has failed. */
export type WorkerResponse = { port: number; figures: MetricObject[]; failure?: never } | { failure: string };

/** Its response to the order `figures`. */
export interface MetricsMessage {
  /** Its metrics; null when it can't read them. */
  figures: MetricObject[] | null;
}

/** Later messages to a worker process, see `Serving` (listen.ts). */
export type WorkerOrder =
  | { order: "announce stop" }
  | { order: "figures" }
  | { order: "stop"; withinMs: number }
  | { order: "take over"; column: number };

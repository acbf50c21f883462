import type { MetricObject } from "prom-client";
import type { PositionsFile } from "../replicas/positions.ts";

/** Default time for a stop, in milliseconds. It is here so that who starts processes that serve doesn't load what these do. */
export const defaultStopMs = 9_000;

/** The data that a process gets at its start. */
export interface WorkerStart<Options> {
  /** The options of its program, see `runWorker`. */
  options: Options;
  /** Whether it does background work: only the first one does. */
  isBackground: boolean;
  /** Where it keeps what clients have written, for the others; null without replicas. */
  positions: PositionsFile | null;
}

/** Its first answer. */
export type WorkerAnswer = { port: number; figures: MetricObject[]; failure?: never } | { failure: string };

/** Its answer to the order of that name. */
export interface FiguresMessage {
  /** Null when it can't say them. */
  figures: MetricObject[] | null;
}

/** Later messages to it, see `Serving` (listen.ts). */
export type Order =
  | { order: "announce stop" }
  | { order: "figures" }
  | { order: "stop"; withinMs: number }
  | { order: "take over"; column: number };

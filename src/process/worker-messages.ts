import type { MetricObject } from "prom-client";
import type { PositionsFile } from "../replicas/positions.ts";
import type { Settings } from "./settings.ts";

/** Data that a process gets at its start. */
export interface ToWorkerProcess {
  /** The database, see `ServeOptions`; null with a directory of merchants. */
  urls: { databaseUrl: string; apiUrl: string } | null;
  settings: Settings;
  /** Whether it does background work: only the first one does. */
  isBackground: boolean;
  /** Where it keeps what clients have written, for the others; null without replicas. */
  positions: PositionsFile | null;
}

/** Its first answer. */
export type FromWorkerProcess =
  | { port: number; figures: MetricObject[]; failure?: never }
  | { failure: string };

/** Later messages to it, see `Serving` (serve.ts). */
export type Order =
  | { order: "announce stop" | "figures"; withinMs?: never; column?: never }
  | { order: "stop"; withinMs: number; column?: never }
  | { order: "take over"; column: number; withinMs?: never };

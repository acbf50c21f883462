import type { Registry } from "prom-client";
import type { RequestUse } from "../auth/request-use.ts";
import { getOrMake } from "../lib/remembered.ts";
import { OperationLabels } from "./operation-labels.ts";
import type { OperationLabel } from "./operation-labels.ts";
import { addCounter, DurationHistograms } from "./tallies.ts";

/** How a request to the GraphQL endpoint ended. */
export interface FinishedRequest {
  version: string | undefined;
  status: number;
  /** The code of its first error. */
  code: string | undefined;
  points: number | undefined;
  /** Milliseconds; null for a stream, which lasts as long as its client wants. */
  ms: number | null;
  /** The usage of its operation, if that was read and allowed. */
  use: RequestUse | undefined;
  isStored: boolean;
}

const noLabels = {};

/** Metrics of requests to the GraphQL endpoint, and of their operations. */
export class RequestMetrics {
  readonly #labels = new OperationLabels();
  /** Numbers of requests, by version and status of the response. */
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #durations: DurationHistograms<object>;
  /** Numbers of operations, by the code of their first error. */
  readonly #operations = new Map<OperationLabel, Map<string, number>>();
  readonly #operationDurations: DurationHistograms<OperationLabel>;
  #points = 0;

  constructor(registry: Registry) {
    this.#durations = new DurationHistograms(registry, {
      name: "service_request_duration_seconds",
      help: "Seconds from the arrival of a GraphQL request to the end of its response.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    });
    this.#durations.begin(noLabels);
    this.#operationDurations = new DurationHistograms(registry, {
      name: "service_operation_duration_seconds",
      help: "Like service_request_duration_seconds, by operation.",
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 5],
    });
    this.#showCounts(registry);
  }

  /** Counts a finished request. */
  count({ version, status, code, points, ms, use, isStored }: FinishedRequest): void {
    // Requested versions that don't exist could create any number of labels
    countIn(this.#requests, version ?? "none", status);
    if (points !== undefined) this.#points += points;
    if (ms !== null) this.#durations.add(noLabels, ms / 1_000);
    if (use === undefined) return;
    const label = this.#labels.of(use, isStored);
    countIn(this.#operations, label, code ?? "OK");
    if (ms !== null) this.#operationDurations.add(label, ms / 1_000);
  }

  #showCounts(registry: Registry): void {
    const requests = "Requests to the GraphQL endpoint, by version and status of the response.";
    addCounter(registry, "service_requests_total", requests, ["version", "status"], () =>
      [...this.#requests].flatMap(([version, counts]) =>
        [...counts].map(([status, count]) => [{ version, status }, count] as const),
      ),
    );
    const operations =
      "Executed operations, by the code of their first error or OK. Stored and frequent operations have their id, all others are other.";
    addCounter(
      registry,
      "service_operations_total",
      operations,
      ["operation", "name", "version", "code"],
      () =>
        [...this.#operations].flatMap(([label, counts]) =>
          [...counts].map(([code, count]) => [{ ...label, code }, count] as const),
        ),
    );
    addCounter(registry, "service_points_total", "The cost of all operations, in points.", [], () => [
      [{}, this.#points],
    ]);
  }
}

function countIn<Key, Of>(all: Map<Key, Map<Of, number>>, key: Key, of: Of): void {
  const counts = getOrMake(all, key, () => new Map<Of, number>());
  counts.set(of, (counts.get(of) ?? 0) + 1);
}

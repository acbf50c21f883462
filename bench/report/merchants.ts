import { bounds } from "../fairness/bounds.ts";
import type { ClientResults } from "../fairness/normal-clients.ts";
import { busyMerchant } from "../fairness/attacks/busy-merchant.ts";
import { median } from "../measure/statistics.ts";
import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** Requests, in milliseconds; processor time in microseconds for each. */
export interface Times {
  requests: number;
  failures: number;
  p50: number;
  p99: number;
  max: number;
  perSecond: number;
  nodeCpu: number;
  postgresCpu: number;
}

/** The resources of the process at some moment. */
export interface Resources {
  when: string;
  /** Resident, in MiB. */
  memory: number;
  /** Merchants that are open. */
  open: number;
  /** Connections to Postgres, and their maximum since the previous moment. */
  connected: number;
  most: number;
}

/** Results of other merchants' clients, with and without a busy merchant. */
export interface Beside {
  quiet: ClientResults;
  beside: ClientResults;
  /** Number of the busy merchant's responses by kind. */
  answers: Record<string, number>;
}

export interface MeasuredMerchants {
  made: { count: number; bytes: number; made: readonly number[] };
  /** Times of the request for an access token, the first request to a new merchant. */
  token: Times;
  /** Milliseconds of the very first request. */
  built: number;
  /** Times of first requests to closed merchants: right after the start, and after each was checked for work. */
  opened: Times;
  openedLater: Times;
  steady: Times;
  /** Milliseconds of processor time for each merchant after its requests, mostly for use counts. */
  counted: { node: number; postgres: number };
  /** Milliseconds of processor time in a second without requests. */
  resting: { node: number; postgres: number };
  beside: readonly Beside[];
  resources: readonly Resources[];
  others: { count: number; perSecond: number };
  machine: Machine;
  options: BenchOptions;
}

/** Describes how a busy merchant affected other clients. The bounds are the same as for one client that affects another. */
export function besideBounds(rounds: readonly Beside[]): string[] {
  const broken: string[] = [];
  for (const { quiet, beside } of rounds) {
    const most = Math.max(bounds.p99Ms, bounds.p99Times * quiet.p99);
    if (beside.failures.length > 0)
      broken.push(`${beside.failures.length} failures: ${[...new Set(beside.failures)].join("; ")}`);
    if (!(beside.p99 <= most)) broken.push(`p99 of ${beside.p99.toFixed(1)} ms, at most ${most.toFixed(1)}`);
  }
  return broken;
}

export function merchantFiles(measured: MeasuredMerchants): Record<string, string> {
  return { [`${measured.options.quick ? "quick-merchants" : "merchants"}.md`]: markdownOf(measured) };
}

function markdownOf(measured: MeasuredMerchants): string {
  const { made, resources, machine, built, counted, resting } = measured;
  const megabytes = (made.bytes / 1e6).toFixed(0);
  const inAll =
    made.made.length > 0 ? `, and took ${median(made.made).toFixed(0)} ms to make, two at a time` : "";
  return [
    "# Many merchants in one process",
    `Written by \`npm run bench -- --merchants\`: ${machineInWords(machine)}; ${made.count.toLocaleString("en-GB")} merchants, whose databases are on one
Postgres, which is on the same cores. Each database has ${megabytes} MB${inAll}. Merchants have a few rows, and limits that refuse nothing.`,
    "## Requests",
    timesTable(measured),
    `The very first request builds the schemas, which all merchants share: ${Math.round(built)} ms. Steady requests are on sixteen connections, each
to any merchant, so most of them find no connection of their merchant. Processor times are microseconds for each request. Behind these
the counts of use are written, once in two minutes for a merchant: that took ${counted.node.toFixed(1)} ms of the process and ${counted.postgres.toFixed(1)} of Postgres for each. While nothing is
asked, the process takes ${resting.node.toFixed(1)} ms of processor time in a second, and Postgres ${resting.postgres.toFixed(1)}.`,
    "## Memory and connections",
    table(
      ["after", "resident MiB", "merchants open", "connections", "at most"],
      resources.map(({ when, memory, open, connected, most }) => [
        ...[when, memory.toFixed(0), `${open}`, `${connected}`, `${most}`],
      ]),
    ),
    perMerchant(measured),
    "## One busy merchant beside others",
    besideText(measured),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function timesTable({ token, opened, openedLater, steady }: MeasuredMerchants): string {
  const ms = (value: number) => value.toFixed(1);
  const whole = (value: number) => (Number.isNaN(value) ? "" : `${Math.round(value)}`);
  const rows: [string, Times][] = [
    ["first token of a new merchant", token],
    ["first request of an idle merchant, in the minute after a start", opened],
    ["… and later", openedLater],
    ["steady requests over all", steady],
  ];
  return table(
    ["", "requests", "wrong", "p50 ms", "p99 ms", "at most", "per second", "Node µs", "Postgres µs"],
    rows.map(([name, times]) => [
      ...[name, times.requests.toLocaleString("en-GB"), `${times.failures}`],
      ...[ms(times.p50), ms(times.p99), ms(times.max)],
      ...[whole(times.perSecond), whole(times.nodeCpu), whole(times.postgresCpu)],
    ]),
  );
}

/** Describes the memory that one more merchant takes. */
function perMerchant({ resources, made }: MeasuredMerchants): string {
  const [started, opened] = resources;
  const each = (opened!.memory - started!.memory) / (made.count - 1);
  return `That is ${each.toFixed(2)} MiB for each merchant that is open.`;
}

function besideText({ beside, others }: MeasuredMerchants): string {
  const ms = (value: number) => value.toFixed(1);
  const broken = besideBounds(beside);
  return [
    `A client of each of ${others.count} merchants sends ${others.perSecond} requests per second, while another merchant does this: ${busyMerchant.what}.`,
    table(
      [
        "round",
        "p50 alone",
        "p50 beside",
        "p99 alone",
        "p99 beside",
        "ratio",
        "requests",
        "failed",
        "the busy one's answers",
      ],
      beside.map(({ quiet, beside: busy, answers }, index) => [
        ...[`${index + 1}`, ms(quiet.p50), ms(busy.p50), ms(quiet.p99), ms(busy.p99)],
        ...[(busy.p99 / quiet.p99).toFixed(1), `${busy.requests}`, `${busy.failures.length}`],
        Object.entries(answers)
          .map(([answer, count]) => `${answer}: ${count}`)
          .join(", "),
      ]),
    ),
    broken.length === 0
      ? `The bounds of [fairness between clients](fairness.md) hold between merchants, too.`
      : `What it has broken:\n\n${broken.map((bound) => `- ${bound}`).join("\n")}`,
  ].join("\n\n");
}

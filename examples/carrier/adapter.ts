import { createHash, timingSafeEqual } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener } from "node:http";
import { labelPdf } from "./label-pdf.ts";

/** What the service asks for. The guide on labels describes all fields. */
export interface LabelRequest {
  type: "outgoing" | "return";
  orderNumber: string | null;
  parcelNumber: number;
  weightInGrams: number | null;
  sender: Address | null;
  recipient: Address | null;
}
type Address = Record<string, string | null>;

/** A label of the made-up carrier; without a request, only the cancellation of a label that was never made. */
interface Label {
  key: string;
  trackingCode?: string;
  request?: LabelRequest;
  isCancelled: boolean;
}

/** Most bytes of a request, and the heaviest parcel that this carrier takes. */
const [maxBodyBytes, maxGrams] = [100_000, 31_500];

/** The labels, by the keys of their requests, in a file to which each change is added. */
export class Labels {
  readonly #file: string;
  readonly #labels = new Map<string, Label>();

  constructor(file: string) {
    this.#file = file;
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    for (const line of lines.filter(Boolean)) this.#keep(JSON.parse(line) as Label);
  }

  get(key: string): Label | undefined {
    return this.#labels.get(key);
  }

  /** All labels that were made and not cancelled. */
  get valid(): Label[] {
    return [...this.#labels.values()].filter((label) => label.request && !label.isCancelled);
  }

  make(key: string, request: LabelRequest): Label {
    const number = String(this.#labels.size + 1).padStart(9, "0");
    return this.#store({
      key,
      trackingCode: `DEMO${number}${checkDigit(number)}`,
      request,
      isCancelled: false,
    });
  }

  /** Also remembers keys without a label, for which none may be made any more. */
  cancel(key: string): void {
    this.#store({ ...this.#labels.get(key), key, isCancelled: true });
  }

  /** Stores before anybody is told. */
  #store(label: Label): Label {
    appendFileSync(this.#file, `${JSON.stringify(label)}\n`, { flush: true });
    return this.#keep(label);
  }

  #keep(label: Label): Label {
    this.#labels.set(label.key, label);
    return label;
  }
}

/** The adapter: makes a label for a key, looks it up, cancels it. */
export function adapter(secret: string, labels: Labels): RequestListener {
  return (request, response) => {
    const answer = (status: number, body?: object) =>
      void response
        .writeHead(status, { "content-type": "application/json" })
        .end(body && JSON.stringify(body));
    const show = (status: number, label: Label) =>
      label.isCancelled
        ? answer(410, { error: "The label was cancelled." })
        : answer(status, describe(label));
    if (!isAllowed(request, secret)) return answer(401);
    const key = request.headers["idempotency-key"];
    if (typeof key !== "string" || !/^[0-9a-f-]{36}$/.test(key))
      return answer(400, { error: "There is no key." });
    const present = labels.get(key);
    if (request.method === "POST" && request.url === "/labels")
      return void readJson(request).then(
        (asked) => {
          // A second request with the same key gets the first label
          const made = labels.get(key);
          if (made) return show(200, made);
          const error = fault(asked);
          return error ? answer(422, { error }) : show(201, labels.make(key, asked));
        },
        () => answer(400, { error: "The request is no JSON." }),
      );
    if (request.url !== `/labels/${key}`) return answer(404);
    if (request.method === "GET") return present ? show(200, present) : answer(404);
    if (request.method !== "DELETE") return answer(405);
    labels.cancel(key);
    answer(204);
  };
}

/** What the service gets: codes, a page to follow the parcel, and the label as a PDF. */
function describe({ trackingCode, request }: Label): object {
  const { recipient, sender, weightInGrams, parcelNumber, orderNumber } = request!;
  const lines = [
    ...[
      "DEMO CARRIER",
      trackingCode!,
      "",
      "To",
      ...printAddress(recipient),
      "",
      "From",
      ...printAddress(sender),
    ],
    ...["", `Order ${orderNumber ?? "-"}, parcel ${parcelNumber}`, `${(weightInGrams ?? 0) / 1000} kg`],
  ];
  return {
    trackingCodes: [trackingCode],
    trackingUrl: `https://tracking.example.com/${trackingCode}`,
    document: { contentType: "application/pdf", content: labelPdf(lines).toString("base64") },
  };
}

function printAddress(address: Address | null): string[] {
  const { company, firstName, lastName, street, zipcode, city, countryIso } = address ?? {};
  return [company, join(firstName, lastName), street, join(zipcode, city), countryIso].filter(
    (line) => !!line,
  ) as string[];
}

const join = (...words: (string | null | undefined)[]): string => words.filter(Boolean).join(" ");

/** Why this carrier takes no such parcel; null if it does. */
function fault({ recipient, weightInGrams }: LabelRequest): string | null {
  const missing = ["street", "city", "countryIso"].filter((key) => !recipient?.[key]);
  if (missing.length > 0) return `The address of the recipient lacks ${missing.join(", ")}.`;
  if ((weightInGrams ?? 0) > maxGrams) return `A parcel has at most ${maxGrams / 1000} kg.`;
  return null;
}

async function readJson(request: IncomingMessage): Promise<LabelRequest> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) throw new Error("The request is too large.");
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString("utf8")) as LabelRequest;
}

/** Compares hashes, which have the same length, in constant time. */
function isAllowed({ headers }: IncomingMessage, secret: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(headers.authorization ?? ""), hash(`Bearer ${secret}`));
}

/** The check digit of numbers on parcels: weights 3 and 1, from the right. */
function checkDigit(number: string): number {
  const sum = [...number]
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 ? 1 : 3), 0);
  return (10 - (sum % 10)) % 10;
}

if (import.meta.main) {
  const { CARRIER_SECRET = "", PORT = "5001", LABELS = "labels.jsonl" } = process.env;
  if (CARRIER_SECRET === "") throw new Error("CARRIER_SECRET is not set: npx erp carrier set shows it.");
  const server = createServer(adapter(CARRIER_SECRET, new Labels(LABELS))).listen(
    Number(PORT),
    "127.0.0.1",
    () => {
      console.log(`listening on ${JSON.stringify(server.address())}`);
    },
  );
}

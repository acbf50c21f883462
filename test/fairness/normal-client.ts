import { setTimeout as sleep } from "node:timers/promises";

/** How it went for a client that does nothing unusual. */
export interface Experience {
  requests: number;
  /** What failed: status and codes. */
  failures: string[];
  /** Milliseconds that 99 of 100 requests took at most, and half of them. */
  p99: number;
  p50: number;
}

const queries = [
  "{ products(first: 10) { edges { node { id productNumber availableStock } } } }",
  "{ orders(first: 5) { edges { node { orderNumber lineItems(first: 5) { edges { node { label product { productNumber } } } } } } } }",
  '{ customers(first: 1, filter: { customerNumber: { equals: "10001" } }) { edges { node { id email } } } }',
];

/** Milliseconds between two requests of a connection: together they stay below what a token may spend. */
const pauseMs = 100;

/** Asks as a usual client does, on two connections, for some time. */
export async function experience(url: string, token: string, seconds: number): Promise<Experience> {
  const durations: number[] = [];
  const failures: string[] = [];
  const end = performance.now() + seconds * 1_000;
  const ask = async () => {
    for (let n = 0; performance.now() < end; n++) {
      const start = performance.now();
      try {
        const response = await fetch(`${url}/api/graphql/unstable`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          body: JSON.stringify({ query: queries[n % queries.length] }),
        });
        const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
        if (errors)
          failures.push(`${response.status} ${errors.map(({ extensions }) => extensions.code).join()}`);
      } catch (error) {
        failures.push(String(error));
      }
      durations.push(performance.now() - start);
      await sleep(pauseMs);
    }
  };
  await Promise.all([ask(), ask()]);
  durations.sort((one, other) => one - other);
  const quantile = (part: number) => durations[Math.floor(durations.length * part)] ?? NaN;
  return { requests: durations.length, failures, p99: quantile(0.99), p50: quantile(0.5) };
}

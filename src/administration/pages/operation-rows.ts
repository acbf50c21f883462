import type { PoolClient } from "pg";

/** An operation, as administration.operations returns it. */
export interface OperationRow {
  id: string;
  version: string;
  /** The name that a client gives it. */
  name: string | null;
  document: string;
  statement: string | null;
  requests: number;
  ms: number;
  slowest_ms: number;
  tokens: number;
}

/** The operations that took the most time, or one. */
export async function readOperations(client: PoolClient, id: string | null = null): Promise<OperationRow[]> {
  const { rows } = await client.query<OperationRow>(
    `select id, version, name, document, statement, requests::float8, ms, slowest_ms, tokens::float8
     from administration.operations($1)`,
    [id],
  );
  return rows;
}

/** The title of an operation: its name or its id. GraphQL allows letters, digits and _ only. */
export const titleOf = ({ name, id }: OperationRow): string => name ?? id;

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

/** A number of milliseconds. */
export const milliseconds = (ms: number): string => `${(ms < 10 ? exact : whole).format(ms)} ms`;

import type { GraphQLError } from "postgraphile/graphql";

/** A user error or a warning, as `mutation.user_error` makes it: the path to the input has column names. */
export interface UserErrorRow {
  code: string;
  message: string;
  field: string[] | null;
  details: unknown;
}

/** The parts of a call that a check may use. */
export interface CheckContext {
  /** The Postgres schema of the version. */
  version: string;
  /** The caller's scopes. */
  scopes: ReadonlySet<string>;
  /** Reads with the caller's rights. */
  query: <Row>(text: string, values: unknown[]) => Promise<readonly Row[]>;
}

/** Checks the input of a mutation, with fields named as columns, before the mutation runs. Returns user errors. */
export type MutationCheck = (input: Record<string, unknown>, scene: CheckContext) => Promise<UserErrorRow[]>;

/** Checks that can't be written in SQL, by the names of the mutations' functions. */
export type MutationChecks = Readonly<Record<string, MutationCheck>>;

/**
 * Makes user errors about a query in a field of an input.
 *
 * @param refused the consequence for the message, such as “can't be run”
 */
export function makeQueryErrors(field: string, refused: string) {
  const error = (reason: string, code = "INVALID", details: unknown = null): UserErrorRow => {
    const message = `The query ${refused}: ${reason.replace(/[.]?$/, ".")}`;
    return { code, message, field: [field], details };
  };
  const ofRefusal = ({ message, extensions: { code, ...details } }: GraphQLError): UserErrorRow =>
    code === "FORBIDDEN" ? error(message, "SCOPE_MISSING", details) : error(message);
  return { error, ofRefusal };
}

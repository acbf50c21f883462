/** A user error, or a warning, as `mutation.user_error` makes it: the way to the input in names of columns. */
export interface UserErrorRow {
  code: string;
  message: string;
  field: string[] | null;
  details: unknown;
}

/** What a check may look at. */
export interface CheckScene {
  /** The Postgres schema of the version. */
  version: string;
  /** The caller's scopes. */
  scopes: ReadonlySet<string>;
  /** Reads as the caller may. */
  query: <Row>(text: string, values: unknown[]) => Promise<readonly Row[]>;
}

/** Looks at the input of a mutation, fields named as columns, before that runs. Answers what speaks against it. */
export type MutationCheck = (input: Record<string, unknown>, scene: CheckScene) => Promise<UserErrorRow[]>;

/** Checks that can't be written in SQL, by the functions of the mutations. */
export type MutationChecks = Readonly<Record<string, MutationCheck>>;

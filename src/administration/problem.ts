/** Why a page can't be shown. */
export type ProblemKind = "form" | "missing" | "malformed" | "unavailable" | "fault" | "too-many";

/** Ends a request with a page that explains the problem (problem-page.ts). */
export class Problem extends Error {
  readonly status: number;
  readonly kind: ProblemKind;

  constructor(status: number, kind: ProblemKind) {
    super(kind);
    this.status = status;
    this.kind = kind;
  }
}

/** No such page, or not any more. */
export const missing = () => new Problem(404, "missing");

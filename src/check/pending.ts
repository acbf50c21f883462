import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { readCommitted } from "../migrations/migration-files.ts";
import { readHashes } from "../migrations/migration-history.ts";
import { UserError } from "../errors/user-error.ts";
import type { Finding } from "./finding.ts";
import { isRefused } from "./finding.ts";
import { printFindings } from "./report.ts";

export interface PendingOptions {
  /** Rules that the operator accepts. */
  accepted?: readonly string[];
  /** Receives notes about accepted findings, and about what can't be checked. */
  onNote?: (note: string) => void;
}

/**
 * Refuses committed migrations that a database doesn't have yet, if they would block its clients, lose data, or break a
 * served version. It changes nothing in the database: it migrates an empty copy.
 *
 * @param adminUrl the database, as an administrator
 * @throws {UserError} with the dangers
 */
export async function requireSafePending(
  adminUrl: string,
  { accepted = [], onNote = () => {} }: PendingOptions = {},
): Promise<void> {
  const findings = await withClient(adminUrl, (client) => findInPending(adminUrl, client, onNote));
  const settled = findings.map((finding) =>
    finding.waived === undefined && accepted.includes(finding.rule)
      ? { ...finding, waived: "accepted by the operator" }
      : finding,
  );
  if (settled.length === 0) return;
  if (!isRefused(settled)) return onNote(printFindings(settled));
  throw new UserError(
    `${printFindings(settled)}\n\nNothing was changed. To run the migrations all the same, at a time that suits: npx erp db setup --accept RULE, for each rule.`,
  );
}

async function findInPending(
  adminUrl: string,
  client: pg.Client,
  onNote: (note: string) => void,
): Promise<Finding[]> {
  const { length: done } = await readHashes(client);
  const pending = (await readCommitted()).slice(done);
  if (done === 0 || pending.length === 0) return [];
  // The check is slow to load, and usually nothing is pending
  const { checkPending: findIn } = await import("./find-in-pending.ts");
  return findIn(pending, { adminUrl, client, done, onNote });
}

import type { ApiChange, Impact } from "./api-changes.ts";
import { findApiChanges, parseSdl } from "./api-changes.ts";
import { findEventChanges } from "./event-changes.ts";
import type { Finding } from "./finding.ts";
import type { BrokenOperation } from "./used-operations.ts";
import { findBrokenOperations, readProjectOperations, readStoredOperations } from "./used-operations.ts";
import type { Places } from "./places.ts";
import type { CheckStep } from "./check-source.ts";
import { readUsers, findAffectedUsers } from "./users.ts";

const rules: Record<Impact, Pick<Finding, "severity" | "why" | "remedy">> = {
  breaking: {
    severity: "warning",
    why: "Operations of clients of unstable that ask for it are refused, or answered otherwise, from the next start on.",
    remedy:
      "keep it beside the new one, with @deprecated in the view's comment, until nobody uses it (docs/reference/check.md). If it has to be, say so: -- waive api-breaking PATH: why.",
  },
  dangerous: {
    severity: "warning",
    why: "Clients that don't expect it may fail: programs that list the values of an enum, for one.",
    remedy: "tell clients in the changelog of the release.",
  },
  deprecated: { severity: "note", why: "Clients are told to stop using it.", remedy: "" },
  added: { severity: "note", why: "", remedy: "" },
  changed: { severity: "note", why: "", remedy: "" },
};
/** Events are the same in all versions, so no frozen version protects their receivers. */
const eventBreach: (typeof rules)[Impact] = {
  severity: "error",
  why: "Receivers of webhooks of all versions get these bodies, and may rely on it.",
  remedy: "keep the field; -- waive event-breaking PATH: why.",
};
/** Finds what `unstable` gains, loses and changes, and which clients that breaks. */
export const apiDiff: CheckStep = {
  name: "changes of the API",
  async find({ before, after, places, recorded }) {
    if (before === null) return [];
    const now = await after().catch((error: Error) => error);
    if (now instanceof Error) return [createBuildFinding(now)];
    const changes = await findApiChanges(before.sdl, now.sdl);
    const findings = await Promise.all(changes.map((change) => createChangeFinding("api", change, places)));
    if (changes.every(({ impact: weight }) => weight !== "breaking")) return findings;
    const schema = parseSdl(before.sdl);
    const users = await readUsers(recorded, "unstable");
    const operations = [...(await readProjectOperations()), ...(await readStoredOperations(recorded))];
    const broken = findBrokenOperations(operations, schema, parseSdl(now.sdl));
    return [
      ...findings.map((finding) => {
        if (finding.rule !== "api-breaking") return finding;
        const names = findAffectedUsers(users, finding.object!, schema);
        if (names.length === 0) return finding;
        const whom = names.map(({ name, lastUsedOn }) => `${name} (last on ${lastUsedOn})`).join(", ");
        return { ...finding, severity: "error" as const, what: `${finding.what} It would break: ${whom}.` };
      }),
      ...broken.map(createOperationFinding),
    ];
  },
};

/** Finds what event payloads gain and lose. */
export const eventDiff: CheckStep = {
  name: "changes of events",
  async find({ before, after, places }) {
    if (before === null) return [];
    const now = await after().catch(() => null);
    if (now === null) return [];
    const changes = findEventChanges(before.events, now.events);
    return Promise.all(changes.map((change) => createChangeFinding("event", change, places)));
  },
};

const createBuildFinding = ({ message }: Error): Finding => ({
  rule: "api-fails",
  severity: "error",
  file: null,
  line: null,
  object: null,
  what: message,
  why: "The head of the API can't be built from it: processes that start from then on answer 503 there.",
  remedy: "mend what the message names.",
});

async function createChangeFinding(
  kind: "api" | "event",
  change: ApiChange,
  places: Places,
): Promise<Finding> {
  const { impact: weight, path, message } = change;
  const place = kind === "api" ? await findDefinition(path, places) : await places.find("events.topic");
  const { remedy, ...rule } = kind === "event" && weight === "breaking" ? eventBreach : rules[weight];
  return {
    rule: `${kind}-${weight}`,
    ...rule,
    object: path,
    what: message,
    remedy: remedy.replaceAll("PATH", path),
    file: place?.file ?? null,
    line: place?.line ?? null,
  };
}

const createOperationFinding = ({ file, line, reason }: BrokenOperation): Finding => ({
  rule: "operation-breaks",
  severity: "error",
  file,
  line,
  object: null,
  what: reason,
  why: "The API of the database as it is committed takes this operation, and the changed one doesn't.",
  remedy: "keep what it asks for, or change the operation in the same step.",
});

const snake = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();

/** Finds the place that defines the view, type or function behind a path of the API. */
async function findDefinition(path: string, places: Places) {
  const [type = "", field = ""] = path.split(".");
  const name = snake(
    /^(Query|Mutation)$/.test(type) ? field : type.replace(/(Connection|Edge|FilterInput)$/, ""),
  );
  const names = [name, `${name}s`, `${name}es`, name.replace(/y$/, "ies")];
  for (const one of names) {
    const place = await places.find(`api_unstable.${one}`);
    if (place !== null) return place;
  }
  return null;
}

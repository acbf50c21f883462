import { isDeepStrictEqual } from "node:util";
import type { ApiChange } from "./api-changes.ts";
import type { ApiState } from "./state.ts";

interface JsonSchema {
  type?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  enum?: unknown[];
  required?: string[];
}

/** Compares event payloads by their JSON Schemas. Receivers read them, so a missing field is a breaking change. */
export function eventChanges(before: ApiState["events"], after: ApiState["events"]): ApiChange[] {
  const topics = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return topics.flatMap((topic): ApiChange[] => {
    const [old, next] = [before[topic], after[topic]];
    if (next === undefined) return [{ weight: "breaking", path: topic, message: `Topic ${topic} is gone.` }];
    if (old === undefined) return [{ weight: "added", path: topic, message: `Topic ${topic} is new.` }];
    return [...changesAt(topic, old, next)];
  });
}

function* changesAt(path: string, old: JsonSchema, next: JsonSchema): Iterable<ApiChange> {
  if (!isDeepStrictEqual(old.type, next.type))
    yield {
      weight: "breaking",
      path,
      message: `${path} was ${JSON.stringify(old.type)}, and is ${JSON.stringify(next.type)}.`,
    };
  const [values, others] = [old.enum ?? [], next.enum ?? []];
  for (const value of others.filter((one) => !values.includes(one)))
    yield { weight: "dangerous", path, message: `${path} has the value ${JSON.stringify(value)}, too.` };
  for (const value of values.filter((one) => !others.includes(one)))
    yield { weight: "breaking", path, message: `${path} has no value ${JSON.stringify(value)} any more.` };
  for (const [name, property] of Object.entries(old.properties ?? {})) {
    const other = next.properties?.[name];
    const at = `${path}.${name}`;
    if (other === undefined) yield { weight: "breaking", path: at, message: `${at} is gone.` };
    else {
      if (old.required?.includes(name) && !next.required?.includes(name))
        yield { weight: "breaking", path: at, message: `${at} may be missing.` };
      yield* changesAt(at, property, other);
    }
  }
  for (const name of Object.keys(next.properties ?? {}))
    if (old.properties?.[name] === undefined)
      yield { weight: "added", path: `${path}.${name}`, message: `${path}.${name} is new.` };
  if (old.items !== undefined && next.items !== undefined)
    yield* changesAt(`${path}[]`, old.items, next.items);
}

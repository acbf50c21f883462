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
export function findEventChanges(before: ApiState["events"], after: ApiState["events"]): ApiChange[] {
  const topics = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return topics.flatMap((topic): ApiChange[] => {
    const [old, next] = [before[topic], after[topic]];
    if (next === undefined) return [{ impact: "breaking", path: topic, message: `Topic ${topic} is gone.` }];
    if (old === undefined) return [{ impact: "added", path: topic, message: `Topic ${topic} is new.` }];
    return [...compareAt(topic, old, next)];
  });
}

function* compareAt(path: string, old: JsonSchema, next: JsonSchema): Iterable<ApiChange> {
  if (!isDeepStrictEqual(old.type, next.type))
    yield {
      impact: "breaking",
      path,
      message: `${path} was ${JSON.stringify(old.type)}, and is ${JSON.stringify(next.type)}.`,
    };
  const [values, others] = [old.enum ?? [], next.enum ?? []];
  for (const value of others.filter((one) => !values.includes(one)))
    yield { impact: "dangerous", path, message: `${path} has the value ${JSON.stringify(value)}, too.` };
  for (const value of values.filter((one) => !others.includes(one)))
    yield { impact: "breaking", path, message: `${path} has no value ${JSON.stringify(value)} any more.` };
  for (const [name, property] of Object.entries(old.properties ?? {})) {
    const other = next.properties?.[name];
    const at = `${path}.${name}`;
    if (other === undefined) yield { impact: "breaking", path: at, message: `${at} is gone.` };
    else {
      if (old.required?.includes(name) && !next.required?.includes(name))
        yield { impact: "breaking", path: at, message: `${at} may be missing.` };
      yield* compareAt(at, property, other);
    }
  }
  for (const name of Object.keys(next.properties ?? {}))
    if (old.properties?.[name] === undefined)
      yield { impact: "added", path: `${path}.${name}`, message: `${path}.${name} is new.` };
  if (old.items !== undefined && next.items !== undefined)
    yield* compareAt(`${path}[]`, old.items, next.items);
}

import { makePgService } from "postgraphile/adaptors/pg";
import { LRUCache } from "lru-cache";
import type { ClientBase } from "pg";
import { readCatalog } from "../../plugins/index.ts";
import { fingerprintOf } from "../versions/fingerprint.ts";
import { printVersion } from "../versions/sdl.ts";

/** A part of a frozen version, as it was recorded. */
export interface FrozenPart {
  version: string;
  kind: string;
  name: string;
  definition: string;
}

/** What of a database its clients see. */
export interface ApiState {
  /** The SDL of the head, `unstable`. */
  sdl: string;
  /** The JSON Schemas of the bodies of events, by their topics. */
  events: Record<string, object>;
  parts: FrozenPart[];
}

/**
 * Reads what clients see of a database.
 *
 * @param url the same database, for what builds the SDL
 * @param catalog what its catalog has about the head, where that has been read before
 */
export async function readState(client: ClientBase, url: string, catalog?: string): Promise<ApiState> {
  const events = await readEvents(client);
  return { sdl: await sdlOf(url, catalog), events, parts: await readParts(client) };
}

/** The JSON Schemas of the bodies of events. */
export async function readEvents(client: ClientBase): Promise<ApiState["events"]> {
  const { rows: topics } = await client.query<{ name: string; schema: object }>(
    "select name, events.schema(name) as schema from events.topic order by name",
  );
  return Object.fromEntries(topics.map(({ name, schema }) => [name, schema]));
}

/** What frozen versions consist of, in the words of what they were recorded as. */
export async function readParts(client: ClientBase): Promise<FrozenPart[]> {
  const { rows } = await client.query<FrozenPart>(
    "select version, kind, name, definition from api_meta.frozen_part order by 1, 2, 3",
  );
  return rows;
}

/**
 * The last SDLs by fingerprint: most migrations leave the API as it is or make it what it was before, and building it takes
 * half a second.
 */
const sdls = new LRUCache<string, string>({ max: 2 }); // What is committed, and what is being written

async function sdlOf(url: string, given?: string): Promise<string> {
  const schemaName = "api_unstable";
  const pgService = makePgService({ connectionString: url, pubsub: false });
  try {
    const catalog = given ?? (await readCatalog(pgService, schemaName));
    const fingerprint = fingerprintOf(catalog);
    const sdl =
      sdls.get(fingerprint) ??
      (await printVersion({ schemaName }, pgService, () => Promise.resolve(catalog)));
    sdls.set(fingerprint, sdl);
    return sdl;
  } finally {
    await pgService.release?.();
  }
}

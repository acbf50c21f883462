import { LRUCache } from "lru-cache";
import type { ClientBase } from "pg";
import { readCatalog } from "../../plugins/index.ts";
import { withPgService } from "../postgres/pg-service.ts";
import { computeFingerprint } from "../versions/fingerprint.ts";
import { printVersion } from "../versions/sdl.ts";

/** A part of a frozen version, as it was recorded. */
export interface FrozenPart {
  version: string;
  kind: string;
  name: string;
  definition: string;
}

/** The parts of a database that clients see. */
export interface ApiState {
  /** The SDL of `unstable`. */
  sdl: string;
  /** JSON Schemas of event payloads, by topic. */
  events: Record<string, object>;
  parts: FrozenPart[];
}

/**
 * Reads the API of a database.
 *
 * @param url the same database, to build the SDL from
 * @param catalog its catalog for `unstable`, if already read
 */
export async function readState(client: ClientBase, url: string, catalog?: string): Promise<ApiState> {
  const events = await readEvents(client);
  return { sdl: await readSdl(url, catalog), events, parts: await readParts(client) };
}

/** Reads the JSON Schemas of event payloads. */
export async function readEvents(client: ClientBase): Promise<ApiState["events"]> {
  const { rows: topics } = await client.query<{ name: string; schema: object }>(
    "select name, events.schema(name) as schema from events.topic order by name",
  );
  return Object.fromEntries(topics.map(({ name, schema }) => [name, schema]));
}

/** Reads the recorded parts of frozen versions. */
export async function readParts(client: ClientBase): Promise<FrozenPart[]> {
  const { rows } = await client.query<FrozenPart>(
    "select version, kind, name, definition from api_meta.frozen_part order by 1, 2, 3",
  );
  return rows;
}

/**
 * Caches the last SDLs by fingerprint, because building one takes half a second and most migrations leave the API as it is
 * or restore it.
 */
const sdls = new LRUCache<string, string>({ max: 2 }); // The committed and the current state

function readSdl(url: string, given?: string): Promise<string> {
  const schemaName = "api_unstable";
  return withPgService(url, async (pgService) => {
    const catalog = given ?? (await readCatalog(pgService, schemaName));
    const fingerprint = computeFingerprint(catalog);
    const sdl =
      sdls.get(fingerprint) ??
      (await printVersion({ schemaName }, pgService, () => Promise.resolve(catalog)));
    sdls.set(fingerprint, sdl);
    return sdl;
  });
}

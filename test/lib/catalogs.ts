import type { Pool } from "pg";
import { knownScopes } from "../../src/auth/credentials.ts";
import { readCatalog } from "../../plugins/catalog.ts";
import type { Template } from "./database.ts";

const catalogs = new Map<string, Promise<string>>();
const scopes = new Map<string, Promise<string[]>>();

/** Returns the cached value of a key, or reads it. */
function readOnce<T>(values: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const value = values.get(key) ?? read();
  values.set(key, value);
  // The failure may be due to this database only
  value.catch(() => values.delete(key));
  return value;
}

/** Reads the catalog of a template's clones, which is always the same, once per process: it takes half of a start. */
export const catalogOf =
  (template: Template): typeof readCatalog =>
  (pgService, schemaName) =>
    readOnce(catalogs, `${template} ${schemaName}`, () => readCatalog(pgService, schemaName));

/** Reads all scopes from the comments of a template's clone, once per process: it takes as long as creating a credential. */
export const scopesOf = (template: Template, owner: Pool): Promise<string[]> =>
  readOnce(scopes, template, () => knownScopes(owner));

import type { Pool } from "pg";
import { knownScopes } from "../../src/auth/credentials.ts";
import { readCatalog } from "../../plugins/catalog.ts";
import type { Template } from "./database.ts";

const catalogs = new Map<string, Promise<string>>();
const scopes = new Map<string, Promise<string[]>>();

/** Takes the value of a key that has been read before, or reads it. */
function once<T>(values: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const value = values.get(key) ?? read();
  values.set(key, value);
  // Its database may have been the reason
  value.catch(() => values.delete(key));
  return value;
}

/** Reads the catalog of clones of a template, which are all the same, once a process: that takes half of a start. */
export const catalogOf =
  (template: Template): typeof readCatalog =>
  (pgService, schemaName) =>
    once(catalogs, `${template} ${schemaName}`, () => readCatalog(pgService, schemaName));

/** Reads all scopes from the comments of a clone of a template, once a process: they take as long as making a credential. */
export const scopesOf = (template: Template, owner: Pool): Promise<string[]> =>
  once(scopes, template, () => knownScopes(owner));

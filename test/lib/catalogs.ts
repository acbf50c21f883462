import { readCatalog } from "../../plugins/catalog.ts";
import type { Template } from "./database.ts";

const catalogs = new Map<string, Promise<string>>();

/** Reads the catalog of clones of a template, which are all the same, once a process: that takes half of a start. */
export const catalogOf =
  (template: Template): typeof readCatalog =>
  (pgService, schemaName) => {
    const key = `${template} ${schemaName}`;
    const known = catalogs.get(key) ?? readCatalog(pgService, schemaName);
    catalogs.set(key, known);
    // Its database may have been the reason
    known.catch(() => catalogs.delete(key));
    return known;
  };

import { runningClusterUrl } from "../../cluster/cluster.ts";
import { getDatabaseName } from "../../postgres/client.ts";
import { urlOfDatabase, derivedName } from "../../migrations/templates.ts";
import { urlAsOwner } from "../../postgres/roles.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Settings } from "../../process/settings.ts";

/** The variables that programs for migrations read. */
export interface MigrationUrls {
  DATABASE_URL: string;
  SHADOW_DATABASE_URL: string;
  ROOT_DATABASE_URL: string;
}

/**
 * How to migrate by other programs: as the owner of every object, on DATABASE_URL or the service's own
 * Postgres. Variables that are set already stay, with that role.
 *
 * @throws {UserError} when no Postgres runs
 */
export async function migrationUrls({
  databaseUrl,
  dataDirectory,
}: Pick<Settings, "databaseUrl" | "dataDirectory">): Promise<{ urls: MigrationUrls; adminUrl: string }> {
  const url = databaseUrl ?? (await runningClusterUrl(dataDirectory, "erp"));
  if (url === null)
    throw new UserError(
      "The service's own Postgres isn't running. Start it in another terminal, by npx erp db watch or npm start; or set DATABASE_URL to an administrator's.",
    );
  const { SHADOW_DATABASE_URL: shadow, ROOT_DATABASE_URL: root } = process.env;
  const adminUrl = withoutRole(url);
  const name = getDatabaseName(url);
  return {
    adminUrl,
    urls: {
      DATABASE_URL: forPsql(urlAsOwner(url)),
      SHADOW_DATABASE_URL: forPsql(urlAsOwner(shadow || urlOfDatabase(url, nameGraphileShadow(name)))),
      ROOT_DATABASE_URL: root || urlOfDatabase(adminUrl, "postgres"),
    },
  };
}

/** Returns the name of graphile-migrate's shadow, unless SHADOW_DATABASE_URL names another. */
export const nameGraphileShadow = (name: string): string => derivedName(name, "_shadow");

/** Removes the role: the connecting role creates and drops databases, not the owner. */
function withoutRole(url: string): string {
  const other = new URL(url);
  other.searchParams.delete("options");
  return other.href;
}

/** Programs of Postgres don't read + as a space. */
export function forPsql(url: string): string {
  const other = new URL(url);
  other.search = other.search.replaceAll("+", "%20");
  return other.href;
}

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, join } from "node:path";

const places = [...(process.env.PATH ?? "").split(delimiter), ...globSync("/usr/lib/postgresql/*/bin")];

const isNewEnough = (folder: string) =>
  ["pg_dump", "pg_restore"].every((name) => {
    const { stdout } = spawnSync(join(folder, name), ["--version"], { encoding: "utf8" });
    return Number(/\) (\d+)/.exec(stdout ?? "")?.[1] ?? 0) >= 18;
  });

/** The folder of a pg_dump and a pg_restore that support the tests' Postgres; undefined if there is none. */
export const dumpPrograms: string | undefined = places.filter(Boolean).find(isNewEnough);

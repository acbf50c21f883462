import assert from "node:assert/strict";
import { cp, glob, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { existsSync } from "node:fs";
import { createCredential } from "../../src/auth/credentials.ts";
import { withClient } from "../../src/postgres/client.ts";
import { runCommand, startCommand, temporaryFolder } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { image, imageFiles, read, root } from "./ops.ts";

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
before(async () => {
  [database, folder] = await Promise.all([openTestDatabase("template_demo"), temporaryFolder()]);
  const copied = (
    await Promise.all(imageFiles.map((file) => Array.fromAsync(glob(file, { cwd: root }))))
  ).flat();
  for (const file of copied) await cp(join(root, file), join(folder.path, file), { recursive: true });
  for (const name of packages()) {
    const link = join(folder.path, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    const source = join(root, "node_modules", name);
    const isWhole = !removed.some((each) => each.startsWith(`${name}/`));
    if (isWhole) await symlink(source, link);
    else await cp(source, link, { recursive: true, filter: (path) => !isRemoved(path) });
  }
});
after(() => Promise.all([database.close(), folder.remove()]));

/** What the image removes from its packages: some of them, or files of theirs. */
const removed = image
  .find(({ text }) => text.startsWith("cd node_modules && rm -rf "))!
  .text.split(" ")
  .slice(5);
const isRemoved = (path: string) => removed.some((each) => path === join(root, "node_modules", each));

/** The packages that the image has: those of the lock file that aren't for development, without those that it removes. */
function packages(): string[] {
  const { packages: locked } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(locked)
    .filter(([path, { dev, devOptional }]) => path.startsWith("node_modules/") && !dev && !devOptional)
    .map(([path]) => path.slice("node_modules/".length))
    .filter((name) => !name.includes("/node_modules/"))
    .filter((name) => !removed.includes(name) && !removed.includes(name.split("/")[0]!))
    .filter((name) => existsSync(join(root, "node_modules", name)));
}

// Links are kept as they are, so that nothing is found beside the project's own packages
const settings = { NODE_ENV: "production", NODE_OPTIONS: "--preserve-symlinks --preserve-symlinks-main" };

test("what is in the image sets up, serves, and ends when it is told to", async (t) => {
  const setUp = await runCommand(
    ["database.ts", "setup"],
    { ...settings, DATABASE_URL: database.adminUrl },
    folder.path,
  );
  assert.equal(setUp.code, 0, setUp.output);

  const serving = { ...settings, DATABASE_URL: database.loginUrl, EXPLORER: "true" };
  const service = startCommand(["start.ts"], serving, folder.path);
  t.after(async () => {
    service.kill("SIGKILL");
    await service.ended;
  });
  const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
  for (const path of [
    "/livez",
    "/readyz",
    "/docs",
    "/docs/guides/deploying",
    "/docs/changelog",
    "/admin/log-in",
    "/explorer/unstable",
    "/ruru-static/ruru.js",
    "/ruru-static/graphqlWorker.js",
    "/explorer-files/explorer.js",
  ])
    assert.equal((await fetch(`${address}${path}`)).status, 200, path);
  assert.equal((await fetch(`${address}/ruru-static/ruru.js.map`)).status, 404);

  const { clientId, clientSecret } = await withClient(database.ownerUrl, (owner) =>
    createCredential(owner, { name: "test", read: "all", write: [] }),
  );
  const exchanged = await fetch(`${address}/api/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  const { access_token: token } = (await exchanged.json()) as { access_token: string };
  const ask = async (query: string) => {
    const answer = await fetch(`${address}/api/graphql/unstable`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    return await answer.json();
  };
  const { data } = await ask("{ products(first: 1) { edges { node { name } } } }");
  assert.equal(data.products.edges.length, 1);
  // Left to PostGraphile, by a thread of its own
  const introspection = await ask("{ __schema { queryType { fields { name } } } }");
  assert.ok(introspection.data.__schema.queryType.fields.length > 20);

  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.output());
});

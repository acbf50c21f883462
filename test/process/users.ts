import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { chooseUser } from "../../src/process/leave-root.ts";
import { query, read } from "../lib/service.ts";

const isRoot = process.getuid?.() === 0;

/** Why a service that is started here doesn't become another user; false when it does. */
export const staysWhy: string | false = isRoot
  ? ((await chooseUser(undefined, null)).warning ?? false)
  : "only root can be left";

/** Real, effective, saved and file-system user of a process, and all of its groups. */
export async function whoIs(pid: number): Promise<{ users: number[]; groups: number[] }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const numbers = (name: string) =>
    new RegExp(`^${name}:(.*)$`, "m").exec(status)![1]!.trim().split(/\s+/).filter(Boolean).map(Number);
  return { users: numbers("Uid"), groups: [...new Set([...numbers("Gid"), ...numbers("Groups")])] };
}

export async function assertRunsAs(pid: number, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const { users, groups } = await whoIs(pid);
  assert.deepEqual([users, groups.filter((each) => each !== gid)], [[uid, uid, uid, uid], []]);
}

/** Sends requests that need a token, a statement, and code that is loaded only then. */
export async function assertWorks(address: string, owner: pg.Client): Promise<void> {
  const { clientId, clientSecret } = await createCredential(owner, { name: "test", read: "all" });
  const body = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const json = { "content-type": "application/json" };
  const issued = await fetch(`${address}/api/oauth/token`, {
    ...{ method: "POST", headers: json, body: JSON.stringify(body) },
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const { codes } = await read(
    await fetch(`${address}/api/graphql/unstable`, {
      ...{ method: "POST", body: JSON.stringify({ query }) },
      headers: { ...json, authorization: `Bearer ${token}` },
    }),
  );
  assert.deepEqual(codes, []);
  const { rows } = await owner.query(
    "select id, deep_link_code as code from erp.document where not static limit 1",
  );
  const document = await fetch(`${address}/api/_action/document/${rows[0].id}/${rows[0].code}`);
  assert.deepEqual([document.status, document.headers.get("content-type")], [200, "application/pdf"]);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
}

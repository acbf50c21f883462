import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../tools/find-secrets.ts", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "secrets-"));
after(() => rm(folder, { recursive: true }));

/** Runs the command on a folder with these files only. */
async function check(files: Record<string, string>): Promise<{ code: number; output: string }> {
  const checked = await mkdtemp(join(folder, "files-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(checked, name)), { recursive: true });
    await writeFile(join(checked, name), text);
  }
  return new Promise((resolve) =>
    execFile(process.execPath, [command, checked], (error, out, problems) =>
      resolve({ code: error ? Number(error.code) : 0, output: out + problems }),
    ),
  );
}

// Generated, so that no file of the project contains a secret
const token = `ghp_${randomBytes(18).toString("hex")}`;
const password = randomBytes(12).toString("hex");
const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
  type: "pkcs8",
  format: "pem",
}) as string;

const planted = {
  "a token": { file: "src/fetch.ts", text: `const token = "${token}";\n`, secret: token },
  "a password in the URL of a database": {
    file: ".ci/run",
    text: `DATABASE_URL=postgres://me:${password}@db.example.com/erp npm start\n`,
    secret: password,
  },
  "a password in a URL, in a test": {
    file: "test/http/fetch.test.ts",
    text: `await fetch("https://me:${password}@example.com/");\n`,
    secret: password,
  },
  "a private key": { file: "test/webhooks/certificates.ts", text: key, secret: key.split("\n")[1]! },
};

for (const [what, { file, text, secret }] of Object.entries(planted)) {
  test(`${what} is found, and not shown`, async () => {
    const { code, output } = await check({ [file]: text, "README.md": "No secret.\n" });
    assert.equal(code, 1);
    assert.ok(output.includes(file), output);
    assert.ok(!output.includes(secret), output);
    assert.ok(!output.includes("README.md"), output);
  });
}

test("the password that tests use is let through, and so is what is never committed", async () => {
  const { code, output } = await check({
    "test/postgres/wait.test.ts": `const url = "postgres://me:${"hunter2"}@127.0.0.1:1/erp";\n`,
    ".env": `TOKEN=${token}\n`,
    "node_modules/other/index.js": `const token = "${token}";\n`,
  });
  assert.equal(output, "No secrets in 1 files.\n");
  assert.equal(code, 0);
});

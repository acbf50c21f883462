import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { addMerchantDatabase, merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { readDirectory, storeMerchant } from "../../src/merchants/directory.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import { dumpPrograms } from "../lib/dump-programs.ts";
import { withConnection } from "../lib/merchants.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import type { OwnPostgres } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";

const run = promisify(execFile);
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const skip =
  (dumpPrograms === undefined || !hasOpenssl) && "pg_dump of Postgres 18 or newer, or openssl, is missing";

suite("npx erp merchants move, over TLS", { skip }, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const clusters: OwnPostgres[] = [];
  const path = (...names: string[]) => join(folder.path, ...names);

  const authority = (name: string) =>
    run("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...["-keyout", path(`${name}.key`), "-out", path(`${name}.pem`), "-subj", `/CN=${name}`],
    ]);

  /** Gives a Postgres a certificate for its host name, and refuses connections without TLS to merchants' databases. */
  async function useTls({ adminUrl }: OwnPostgres, ca: string): Promise<void> {
    const [key, certificate] = [path("server.key"), path("server.pem")];
    await run("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...["-keyout", key, "-out", certificate, "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:false"],
      ...["-CA", path(`${ca}.pem`), "-CAkey", path(`${ca}.key`)],
    ]);
    await withConnection(adminUrl, async (admin) => {
      const { rows } = await admin.query<{ place: string }>(
        "select current_setting('data_directory') as place",
      );
      const { place } = rows[0]!;
      const { uid, gid } = await stat(place);
      for (const file of [key, certificate]) {
        const copy = join(place, file === key ? "server.key" : "server.crt");
        await copyFile(file, copy);
        await chmod(copy, 0o600);
        await chown(copy, uid, gid);
      }
      await admin.query("alter system set ssl = on");
      await admin.query("select pg_reload_conf()");
    });
    await until(() => withConnection(tlsUrl(adminUrl, ca), async () => true).catch(() => false));
  }

  const tlsUrl = (url: string, ca: string) => {
    const tls = Object.assign(new URL(url), { hostname: "localhost" });
    tls.search = new URLSearchParams({ sslmode: "verify-full", sslrootcert: path(`${ca}.pem`) }).toString();
    return tls.href;
  };

  before(async () => {
    folder = await temporaryFolder();
    await mkdir(path("merchants"));
    for (const name of ["one", "two"]) {
      await authority(name);
      clusters.push(await startOwnPostgres({ directory: path(`cluster-${name}`) }));
      await useTls(clusters.at(-1)!, name);
    }
  });
  after(async () => {
    for (const { cluster } of clusters) await cluster.stop();
    await folder?.remove();
  });

  const move = (from: string, to: string) =>
    startCommand(["merchants", "move", "acme"], {
      MERCHANTS: path("merchants"),
      FROM_DATABASE_URL: from,
      DATABASE_URL: to,
      PATH: `${dumpPrograms!}${delimiter}${process.env.PATH}`,
    });

  test("certificates are checked by the authority of each, and the merchant is served over TLS then", async () => {
    const [from, to] = clusters.map(({ cluster }, n) =>
      tlsUrl(cluster.adminUrl("postgres"), n === 0 ? "one" : "two"),
    );
    const databaseUrl = await addMerchantDatabase(from!, "acme");
    const acme: Merchant = {
      name: "acme",
      databaseUrl,
      hosts: ["acme.example"],
      hasPath: false,
      state: "active",
    };
    await storeMerchant(path("merchants"), acme);
    const before = await readDirectory(path("merchants"));

    const wrong = move(from!, tlsUrl(clusters[1]!.cluster.adminUrl("postgres"), "one"));
    assert.equal(await wrong.ended, 1);
    assert.match(wrong.output(), /certificate/);
    assert.deepEqual(await readDirectory(path("merchants")), before);

    const moving = move(from!, to!);
    assert.equal(await moving.ended, 0, moving.output());
    const [moved] = (await readDirectory(path("merchants"))).merchants;
    assert.equal(new URL(moved!.databaseUrl).search, new URL(to!).search);
    assert.equal(new URL(moved!.databaseUrl).host, new URL(to!).host);
    const { rows } = await withConnection(moved!.databaseUrl, (client) =>
      client.query<{ ssl: boolean }>("select ssl from pg_stat_ssl where pid = pg_backend_pid()"),
    );
    assert.deepEqual(rows, [{ ssl: true }]);
    await withConnection(urlOfDatabase(to!, merchantDatabaseName("acme")), (client) =>
      client.query("select from erp.product"),
    );
  });
});

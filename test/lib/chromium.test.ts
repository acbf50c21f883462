import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { findBrowser, skipReason } from "./chromium.ts";

/** Returns the browser that is found on a system with only these files. */
function found(environment: Record<string, string>, files: string[], platform = "linux", arch = "x64") {
  const system = { platform, arch } as { platform: NodeJS.Platform; arch: NodeJS.Architecture };
  return findBrowser(environment, system, (path) => files.includes(String(path)));
}
const PATH = ["/usr/bin", "/opt/bin"].join(delimiter);

test("CHROMIUM comes first, and must be there", () => {
  const files = ["/my/browser", "/usr/bin/chromium"];
  assert.deepEqual(found({ PATH, CHROMIUM: "/my/browser" }, files), { program: "/my/browser" });
  assert.throws(
    () => found({ PATH, CHROMIUM: "/gone" }, files),
    /no browser at \/gone, which CHROMIUM names/,
  );
});

test("then an installed one: Chrome before Chromium before Edge, on each system", () => {
  const linux = ["/opt/bin/google-chrome", "/usr/bin/chromium", "/usr/bin/microsoft-edge"];
  const mac = ["Google Chrome", "Chromium", "Microsoft Edge"].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  );
  const windows = [
    join("C:", "Google/Chrome/Application/chrome.exe"),
    join("D:", "Chromium/Application/chrome.exe"),
    join("C:", "Microsoft/Edge/Application/msedge.exe"),
  ];
  const environment = { PATH, PROGRAMFILES: "C:", LOCALAPPDATA: "D:", CHROMIUM: "" };
  for (const [platform, files] of Object.entries({ linux, darwin: mac, win32: windows }))
    for (let first = 0; first < files.length; first++)
      assert.deepEqual(found(environment, files.slice(first), platform), { program: files[first] });
});

test("then that of the package, where it runs", () => {
  assert.equal(found({ PATH }, []), "package");
  assert.equal(found({}, [], "linux", "arm64"), null);
  assert.equal(found({}, [], "darwin", "arm64"), null);
  assert.equal(found({}, [], "win32"), null);
});

test("without one the tests are skipped, but never where CI is set", () => {
  assert.match(String(skipReason({}, null)), /^there is no browser: install/);
  assert.equal(skipReason({ CI: "true" }, null), false);
  assert.equal(skipReason({}, "package"), false);
  assert.equal(skipReason({ SKIP_BROWSER: "true", CI: "true" }, "package"), "SKIP_BROWSER is set");
});

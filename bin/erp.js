#!/usr/bin/env node
// Starts the commands of src/commands/erp.ts by the Node that this package brings, with its flags. Any Node from 20 on can
// run this file.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

const isWindows = process.platform === "win32";

/** The Node of the npm package `node`. The image has none, and that Node itself. */
function ownNode() {
  try {
    return require.resolve(isWindows ? "node/bin/node.exe" : "node/bin/node");
  } catch {
    return process.execPath;
  }
}

const parameters = process.argv.slice(2);
// docs/internals/fast-paths.md says what they are for. Compiled code serves those flags that it was made with
const flags = require("./flags.json");
const words = [...flags.all, `--import=${new URL("preload.js", import.meta.url).href}`];
if (["start", "compile"].includes(parameters[0])) words.push(...flags.service);
// The preload does what Node doesn't there, and calls experimental
if (import.meta.url.includes("/node_modules/")) words.push("--disable-warning=ExperimentalWarning");
words.push(fileURLToPath(new URL("../src/commands/erp.ts", import.meta.url)), ...parameters);

const node = ownNode();
if (node === process.execPath && Number.parseInt(process.versions.node, 10) < 24) {
  console.error("This needs Node 24, which `npm ci` brings as the package `node`, by its install script.");
  process.exit(1);
}
// In this process, so that signals, exit codes, terminal and input are the command's own
if (process.execve && !isWindows) process.execve(node, [node, ...words]);

const child = spawn(node, words, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

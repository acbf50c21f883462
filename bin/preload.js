// Is run before a command is loaded, in each of its processes and threads.
import { readFileSync } from "node:fs";
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

// Node caches compiled code, and starts in two thirds of the time. The folder is ours, because anyone who can write to a
// shared one could make us run their code.
enableCompileCache(fileURLToPath(new URL("node_modules/.cache/node-compile-cache", root)));

// Node doesn't erase types below node_modules, where this package is when it is installed
if (root.pathname.includes("/node_modules/"))
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(root.href) || !url.endsWith(".ts")) return nextLoad(url, context);
      const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"));
      return { format: "module", source, shortCircuit: true };
    },
  });

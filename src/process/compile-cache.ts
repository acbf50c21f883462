import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// `node --import` runs this before a program is loaded. Node then caches compiled code, and starts in two thirds of the
// time. The folder is ours, because anyone who can write to a shared one could make us run their code.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node-compile-cache", import.meta.url)));

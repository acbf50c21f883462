import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// `node --import` runs this before a program is loaded. Node then keeps what it has compiled, and starts in two thirds of
// the time. In a folder of our own: whoever can write to a shared one could have us run what they like.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node-compile-cache", import.meta.url)));

// Runs before the service, by `--import`. While modules are loaded, it applies the replacements of ABLATION.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { Ablation } from "./list.ts";
import { ablations } from "./list.ts";

const ablation: Ablation | undefined = ablations.find(({ name }) => name === process.env.ABLATION);
if (!ablation) throw new Error(`ABLATION is ${process.env.ABLATION}.`);
const source = new URL("../../src/", import.meta.url);
const outstanding = new Set(ablation.changes);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const changes = ablation.changes.filter(({ file }) => url === new URL(file, source).href);
    if (changes.length === 0) return loaded;
    let text = Buffer.from(loaded.source as Uint8Array | string as string).toString();
    for (const change of changes) {
      const { file, from, to } = change;
      if (from !== null && !text.includes(from)) throw new Error(`${file} no longer has “${from}”.`);
      const added = to.replace("bench:", pathToFileURL(`${import.meta.dirname}/`).href);
      text = from === null ? added : text.replace(from, added);
      outstanding.delete(change);
    }
    return { ...loaded, source: text };
  },
});

// What wasn't loaded has changed nothing
setTimeout(() => {
  const [file] = [...outstanding].map((change) => change.file);
  if (file !== undefined) throw new Error(`${file} was not loaded.`);
}, 20_000).unref();

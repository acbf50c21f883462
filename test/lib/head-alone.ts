import { registerHooks } from "node:module";

// `node --import` runs this before a command. Its service then knows `unstable` alone, which takes a fifth less to start.
registerHooks({
  load(url, context, next) {
    if (!url.endsWith("/src/versions/versions.json")) return next(url, context);
    return { format: "json", source: JSON.stringify([{ slug: "unstable" }]), shortCircuit: true };
  },
});

import "../../src/compile-cache.ts";
import { announce } from "../child/serve.ts";

// Loaded afterwards, as by `npm start`
const { startService } = await import("../../src/commands/start.ts");
const { readSettings } = await import("../../src/settings.ts");

const stopping = new AbortController();
const { address, stop } = await startService(readSettings(), stopping.signal);
announce(address);
process.on("SIGTERM", () => void stop().then(() => process.exit()));

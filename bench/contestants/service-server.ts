import { startFromSettings } from "../../src/commands/start-service.ts";
import { readSettings } from "../../src/process/settings.ts";
import { announce } from "../child/serve.ts";

const stopping = new AbortController();
const { address, stop } = await startFromSettings(readSettings(), stopping.signal);
announce(address);
process.on("SIGTERM", () => void stop().then(() => process.exit()));

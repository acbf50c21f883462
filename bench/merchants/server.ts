import { startMerchants } from "../../src/commands/start-merchants.ts";
import { readSettings } from "../../src/process/settings.ts";
import { announce } from "../child/serve.ts";

const settings = readSettings();
const stopping = new AbortController();
const { port, stop } = await startMerchants(settings, stopping.signal);
announce(`http://${settings.host}:${port}`);
process.on("SIGTERM", () => void stop().then(() => process.exit()));

import { startProcess } from "../lib/service.ts";
import { startTestBulk } from "./support.ts";

// A process that works on bulk operations until it is killed: node test/bulk/process.ts URL LEASE_MS
const [loginUrl, leaseMs] = process.argv.slice(2) as [string, string];
const { app } = await startProcess({ loginUrl });
startTestBulk({ app, loginUrl }, { leaseMs: Number(leaseMs) });

import { writeFile } from "node:fs/promises";
import { settingsByTopic } from "../process/settings.ts";
import { printEnvironmentFile, printSettingsPage } from "../process/settings/print.ts";
import { atTheCommandLine } from "./command-line.ts";

const root = new URL("../../", import.meta.url);

const usage = `Writes .env.example and docs/settings.md from the declarations in src/process/settings/. A test compares them.

Usage: npm run settings
`;

await atTheCommandLine({ usage }, async () => {
  await writeFile(new URL(".env.example", root), printEnvironmentFile(settingsByTopic));
  await writeFile(new URL("docs/settings.md", root), printSettingsPage(settingsByTopic));
  console.log(".env.example\ndocs/settings.md");
});

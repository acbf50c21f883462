// Writes `.env.example` and docs/settings.md from the declarations in src/process/settings/. A test compares them.
import { writeFile } from "node:fs/promises";
import { settingsByTopic } from "../process/settings.ts";
import { printEnvironmentFile, printSettingsPage } from "../process/settings/print.ts";
import { atTheTerminal } from "./terminal.ts";

const root = new URL("../../", import.meta.url);

await atTheTerminal(async () => {
  await writeFile(new URL(".env.example", root), printEnvironmentFile(settingsByTopic));
  await writeFile(new URL("docs/settings.md", root), printSettingsPage(settingsByTopic));
  console.log(".env.example\ndocs/settings.md");
});

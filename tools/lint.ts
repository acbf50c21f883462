// Checks types and lints with one program of TypeScript: tsc and eslint would each read and check all files. Part of
// `npm run check`.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import ts from "typescript";

const root = fileURLToPath(new URL("../", import.meta.url));

const config = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.json`, undefined, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: (diagnostic) => report([diagnostic]),
});
const program = ts.createProgram({
  rootNames: config!.fileNames,
  options: config!.options,
  configFileParsingDiagnostics: config!.errors,
});
report(ts.getPreEmitDiagnostics(program));

const eslint = new ESLint({
  cwd: root,
  overrideConfig: {
    files: ["**/*.ts"],
    ignores: ["bench/peers/**"],
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  },
});
const results = await eslint.lintFiles(["."]);
const formatter = await eslint.loadFormatter("stylish");
const output = await formatter.format(results);
if (output) console.log(output);
if (results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0)) process.exitCode = 1;

function report(diagnostics: readonly ts.Diagnostic[]): void {
  if (diagnostics.length === 0) return;
  process.exitCode = 1;
  const host = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (path: string) => relative(root, path),
    getNewLine: () => "\n",
  };
  console.log(ts.formatDiagnosticsWithColorAndContext(diagnostics, host));
}

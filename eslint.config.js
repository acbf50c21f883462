import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["**/node_modules/", ".data/"] },
  {
    files: ["**/*.ts"],
    ignores: ["bench/peers/**"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // node:test takes promises that it awaits itself
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", package: "node:test", name: ["test", "describe", "it", "suite"] },
          ],
        },
      ],
      "@typescript-eslint/restrict-template-expressions": "off",
      "@typescript-eslint/require-await": "off",
      // Grafast and PostGraphile are extended by declaring into their namespaces
      "@typescript-eslint/no-namespace": ["error", { allowDeclarations: true }],
      "@typescript-eslint/unbound-method": "off",
      // An interface that is merged with a library's has to name its type parameters as that does
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_T[A-Z]" }],
    },
  },
  {
    // What doesn't fit on a page has more than one concern
    files: ["src/**", "plugins/**", "tools/**"],
    rules: { "max-lines": ["error", 250], "max-lines-per-function": ["error", 60] },
  },
  {
    // Still to be taken apart
    files: ["src/graphql/size.ts"],
    rules: { "max-lines-per-function": "off" },
  },
  {
    // Answers of the service come without types, and tests look into them
    files: ["test/**"],
    rules: {
      "@typescript-eslint/no-explicit-any": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    // Without types: the peers' packages are only there after a run of `npm run bench`
    files: ["bench/peers/**/*.ts"],
    extends: [tseslint.configs.recommended],
  },
);

import { examples } from "./explorer-examples.ts";
import type { Version } from "./versions.ts";
import { pathOf } from "./versions.ts";

type RuruClientConfig = NonNullable<NonNullable<GraphileConfig.Preset["ruru"]>["clientConfig"]>;

/** Path of the explorer of a version. */
export function explorerPathOf({ slug }: Pick<Version, "slug">): string {
  return `/explorer/${slug}`;
}

/** The key under which a browser tab keeps the credentials of the user who is logged in to the explorer. */
export const credentialsKey = "explorer:credentials";

/** Returns the path at which an explorer hears of changes of its version. */
export const changesPathOf = (explorerPath: string): string => `${explorerPath}/changes`;

/** Path of the page's own files. */
export const explorerFiles = "/explorer-files";

/** Returns the configuration of the explorer's own script. */
const makeConfig = (explorerPath: string, endpoint: string) => ({
  endpoint,
  changes: changesPathOf(explorerPath),
  key: credentialsKey,
  token: "/api/oauth/token",
  schema: `${endpoint}/schema.graphql`,
  examples: examples.map(({ query }) => query),
});

/** Returns the bar at the top of the page: login, examples, cost. */
function renderBar(slug: string): string {
  const topics = [...new Set(examples.map(({ topic }) => topic))];
  const options = topics.map((topic) => {
    const ofTopic = examples.flatMap((example, index) =>
      example.topic === topic ? [`<option value="${index}">${example.title}</option>`] : [],
    );
    return `<optgroup label="${topic}">${ofTopic.join("")}</optgroup>`;
  });
  return `<header id="bar">
  <h1>Stock and order <small>${slug}</small></h1>
  <label>Examples <select id="examples"><option value="">Choose…</option>${options.join("")}</select></label>
  <output id="cost" aria-live="polite"></output>
  <form id="log-in">
    <label>Client ID <input name="id" autocomplete="off" spellcheck="false" placeholder="ak_…" required></label>
    <label>Client secret <input name="secret" type="password" autocomplete="off" placeholder="sk_…" required></label>
    <button>Log in</button>
    <a href="/admin/explorer">As an administrator</a>
  </form>
  <p id="who" hidden><span></span> <button type="button">Log out</button></p>
  <p id="problem" role="alert"></p>
</header>`;
}

/** Path of Ruru's files. */
export const ruruFiles = "/ruru-static/";

/** Returns the page of a version's explorer (Ruru). */
export async function explorerPage(version: Version): Promise<string> {
  const { ruruHTML } = await import("postgraphile/grafserv/ruru/server");
  const [explorerPath, endpoint] = [explorerPathOf(version), pathOf(version)];
  const config = JSON.stringify(makeConfig(explorerPath, endpoint)).replaceAll("<", "\\u003c");
  return ruruHTML({
    endpoint,
    staticPath: ruruFiles,
    htmlParts: {
      titleTag: `<title>Stock and order – GraphQL explorer, ${version.slug}</title>`,
      metaTags: (tags: string) =>
        `${tags}<meta name="viewport" content="width=device-width, initial-scale=1">`,
      styleTags: (styles: string) => `${styles}<link rel="stylesheet" href="${explorerFiles}/explorer.css">`,
      // Before the editor, which sends its first request at once
      configScript: (script: string) =>
        `${script}<script>const EXPLORER = ${config};</script><script src="${explorerFiles}/explorer.js"></script>`,
      bodyContent: (content: string) => renderBar(version.slug) + content,
    },
    // Its type demands every option, though none is needed
    clientConfig: {
      defaultQuery: examples[0]!.query,
      debugTools: [],
    } as Partial<RuruClientConfig> as RuruClientConfig,
  });
}

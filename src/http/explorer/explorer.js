// The explorer beside its editor: logging in, examples, costs, scopes in the documentation. It comes before the editor
// and stands between it and the service.

const { endpoint, changes, examples } = EXPLORER;
const send = window.fetch.bind(window);
const find = (selector) => document.querySelector(selector);
/** The credentials are kept in this tab only. */
const kept = { key: EXPLORER.key, read: () => JSON.parse(sessionStorage.getItem(kept.key)) };
/** Seconds before its end at which a token is replaced. */
const marginSeconds = 30;

let token = null;
let loggedIn;
const whenLoggedIn = new Promise((resolve) => (loggedIn = resolve));

async function requestToken({ id, secret }) {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: id,
    client_secret: secret,
  });
  const response = await send(EXPLORER.token, { method: "POST", body });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error_description ?? "That did not work.");
  token = { text: answer.access_token, endsAt: Date.now() + (answer.expires_in - marginSeconds) * 1000 };
  return answer.scope.split(" ").filter(Boolean);
}

async function logIn(credentials) {
  find("#problem").textContent = "";
  try {
    const scopes = await requestToken(credentials);
    sessionStorage.setItem(kept.key, JSON.stringify(credentials));
    find("#log-in").hidden = true;
    find("#who").hidden = false;
    find("#who span").textContent =
      `${credentials.id.slice(0, 11)}…, ${scopes.length} ${scopes.length === 1 ? "scope" : "scopes"}`;
    find("#who span").title = scopes.join("\n");
    loggedIn();
    price().catch(() => {});
  } catch (error) {
    sessionStorage.removeItem(kept.key);
    find("#problem").textContent = error.message;
  }
}

async function freshToken() {
  if (Date.now() > token.endsAt) await requestToken(kept.read());
  return token.text;
}

/** The answer to an operation that is run before the log-in, in the form of the service's own refusal. */
const refusal = () =>
  Response.json(
    {
      errors: [{ message: "Log in first, at the top of the page.", extensions: { code: "UNAUTHENTICATED" } }],
    },
    { status: 401 },
  );

/** Adds a token to requests of the editor. Before the log-in, its request for the schema waits, and others are refused. */
window.fetch = async (input, init = {}) => {
  if (new URL(input.url ?? input, location.href).pathname !== endpoint) return send(input, init);
  const headers = new Headers(init.headers);
  if (!headers.has("authorization")) {
    if (token === null && kept.read() === null) {
      find("#log-in input").focus();
      if (!String(init.body).includes("__schema")) return refusal();
    }
    await whenLoggedIn;
    headers.set("authorization", `Bearer ${await freshToken()}`);
  }
  const response = await send(input, { ...init, headers });
  const answer = await response
    .clone()
    .json()
    .catch(() => null);
  if (answer?.data?.__schema?.types) {
    await describe(answer.data.__schema);
    return new Response(JSON.stringify(answer), response);
  }
  if (answer?.extensions?.cost) {
    // What it has cost replaces what it would
    asked++;
    const [, left] = /;r=(\d+)/.exec(response.headers.get("ratelimit")) ?? [];
    showCost(`Cost ${points(answer)}${left === undefined ? "" : `; ${left} points left`}`);
  }
  return response;
};

const points = ({ extensions: { cost } }) => `${cost.requested} of at most ${cost.maximum} points`;
const showCost = (text) => (find("#cost").textContent = text);

/** Adds scopes and costs to the descriptions that the documentation shows. */
async function describe({ types, mutationType }) {
  const scopes = scopesIn(await (await send(EXPLORER.schema)).text());
  for (const { name, fields } of types) {
    for (const field of fields ?? []) {
      const needed = scopes.get(`${name}.${field.name}`);
      const notes = [
        needed && `Scopes: ${needed}.`,
        /Connection!?$/.test(nameOf(field.type)) && "Costs a point, and one for every ten rows.",
        name === mutationType?.name && "Costs ten points, and those of its payload.",
      ];
      // The list of fields shows the first paragraph only
      const [first = "", ...others] = (field.description ?? "").split("\n\n");
      field.description = [[first, ...notes].filter(Boolean).join(" "), ...others].join("\n\n");
    }
  }
}

const nameOf = (type) => type.name ?? nameOf(type.ofType);

/** The scopes of each field, out of the schema file, in which a field begins with two blanks. */
function scopesIn(sdl) {
  const found = new Map();
  let type = "";
  let field = "";
  for (const line of sdl.split("\n")) {
    type = /^type (\w+)/.exec(line)?.[1] ?? type;
    field = /^ {2}(\w+)[(:]/.exec(line)?.[1] ?? field;
    const [, needed] = /@requiresScopes\((.*)\)/.exec(line) ?? [];
    if (needed)
      found.set(`${type}.${field}`, needed.replace(/anyOf: |[["\]]/g, "").replace("allOf:", "and all of"));
  }
  return found;
}

/** The operation in the editor, and the one that was last priced, as text. */
let edited = {};
let priced = "";
let asked = 0;

/** Says what the operation in the editor costs, after each change of it and after the log-in. */
async function price() {
  const { query, variables } = edited;
  const text = `${query} ${variables}`;
  if (token === null || !query?.trim() || text === priced) return;
  priced = text;
  const number = ++asked;
  const body = JSON.stringify({ query, variables: variables ? JSON.parse(variables) : undefined });
  const headers = { "content-type": "application/json", "x-cost-only": "true" };
  headers.authorization = `Bearer ${await freshToken()}`;
  const answer = await (await send(endpoint, { method: "POST", headers, body })).json();
  if (number === asked) showCost(answer.errors ? "" : `Would cost ${points(answer)}`);
}

// The editor keeps its tabs in the storage
const setItem = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, value) {
  setItem.call(this, key, value);
  if (key !== "graphiql:tabState") return;
  const { tabs, activeTabIndex } = JSON.parse(value);
  edited = tabs[activeTabIndex] ?? {};
  // Variables that are being typed may be no JSON yet
  price().catch(() => {});
};

// Examples open in a tab of their own
const example = new URL(location.href).searchParams.get("example");
if (example !== null && examples[example]) {
  RURU_CONFIG.initialQuery = examples[example];
  history.replaceState(null, "", location.pathname);
}

addEventListener("DOMContentLoaded", () => {
  const credentials = kept.read();
  if (credentials) void logIn(credentials);
  find("#log-in").addEventListener("submit", (event) => {
    event.preventDefault();
    const { id, secret } = event.target.elements;
    void logIn({ id: id.value.trim(), secret: secret.value.trim() });
  });
  find("#who button").addEventListener("click", () => {
    sessionStorage.removeItem(kept.key);
    location.reload();
  });
  find("#examples").addEventListener("change", ({ target }) => {
    location.search = `?example=${target.value}`;
  });
});

// The schema is read again at each change, and when the service is back. The editor's own way misses changes until it
// is drawn again.
const listening = new EventSource(changes);
let isOpened = false;
const readAgain = () => find("[aria-label^='Re-fetch GraphQL schema']")?.click();
listening.addEventListener("change", readAgain);
listening.addEventListener("open", () => (isOpened ? readAgain() : (isOpened = true)));

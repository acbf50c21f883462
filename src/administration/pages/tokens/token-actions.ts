import type { Pages } from "../../section.ts";
import { questionPage } from "../../show-page.ts";
import type { Page } from "../../show-page.ts";
import { perform } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { linkTo, readToken } from "./token-rows.ts";

/** Deactivates, activates and deletes tokens. */
export const tokenActions: Pages = {
  "GET /:id/deactivate": (visit, id) =>
    ask(
      visit,
      id,
      "Deactivate token",
      "Its client is refused from now on, also with access tokens that it has already. You can activate the token again, with the same key and secret.",
    ),
  "POST /:id/deactivate": async (visit, id) => {
    await perform(visit, "set_credential_active($1, false)", id);
    return `/admin/tokens/${id}?done=deactivated`;
  },
  "POST /:id/activate": async (visit, id) => {
    await perform(visit, "set_credential_active($1, true)", id);
    return `/admin/tokens/${id}?done=activated`;
  },
  "GET /:id/delete": (visit, id) =>
    ask(
      visit,
      id,
      "Delete token",
      "Its client is refused from now on, and its counts of requests are deleted with it. This can’t be undone. What was done with it stays in the activity.",
    ),
  "POST /:id/delete": async (visit, id) => {
    await perform(visit, "delete_credential($1)", id);
    return "/admin/tokens?done=deleted";
  },
};

async function ask(visit: Visit, id: string, action: string, text: string): Promise<Page> {
  const token = await visit.run((client) => readToken(client, id));
  return questionPage(visit, {
    title: `${action} “${token.name}”?`,
    within: linkTo(token),
    text,
    submit: action,
  });
}

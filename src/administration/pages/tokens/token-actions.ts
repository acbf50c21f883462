import type { Pages } from "../../section.ts";
import { questionPage } from "../../show-page.ts";
import type { Page } from "../../show-page.ts";
import { perform } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { linkTo, readToken } from "./token-rows.ts";

/** Deactivates, activates and deletes API credentials. */
export const tokenActions: Pages = {
  "GET /:id/deactivate": (visit, id) =>
    ask(
      visit,
      id,
      "Deactivate API credential",
      "Its client is refused from now on, also with access tokens that it already has. You can activate the credential again, with the same client ID and secret.",
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
      "Delete API credential",
      "Its client is refused from now on, and its request counts are deleted. This can’t be undone. Its activity is kept.",
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

import type { Pages } from "../../section.ts";
import { confirmationPage } from "../../show-page.ts";
import type { Page } from "../../show-page.ts";
import { callInTransaction } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { credentialLink, readCredential } from "./token-rows.ts";

/** Deactivates, activates and deletes API credentials. */
export const credentialActions: Pages = {
  "GET /:id/deactivate": (visit, id) =>
    confirmAction(
      visit,
      id,
      "Deactivate API credential",
      "Its client is refused from now on, also with access tokens that it already has. You can activate the credential again, with the same client ID and secret.",
    ),
  "POST /:id/deactivate": async (visit, id) => {
    await callInTransaction(visit, "set_credential_active($1, false)", id);
    return `/admin/tokens/${id}?done=deactivated`;
  },
  "POST /:id/activate": async (visit, id) => {
    await callInTransaction(visit, "set_credential_active($1, true)", id);
    return `/admin/tokens/${id}?done=activated`;
  },
  "GET /:id/delete": (visit, id) =>
    confirmAction(
      visit,
      id,
      "Delete API credential",
      "Its client is refused from now on, and its request counts are deleted. This can’t be undone. Its activity is kept.",
    ),
  "POST /:id/delete": async (visit, id) => {
    await callInTransaction(visit, "delete_credential($1)", id);
    return "/admin/tokens?done=deleted";
  },
};

async function confirmAction(visit: Visit, id: string, action: string, text: string): Promise<Page> {
  const token = await visit.run((client) => readCredential(client, id));
  return confirmationPage(visit, {
    title: `${action} “${token.name}”?`,
    within: credentialLink(token),
    text,
    submit: action,
  });
}

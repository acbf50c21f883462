import { Router } from "express";
import type { Response } from "express";
import { complaintAbout, hashPassword, isPassword, minPasswordCharacters } from "../../auth/passwords.ts";
import { html } from "../../html/html.ts";
import { field, form, hasErrors, noticeOf, passwordOf } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import { showPage } from "../show-page.ts";
import type { Section } from "../section.ts";
import { visitOf, visitorOf } from "../visit.ts";

const notices = { password: "Your password has been changed. Your other sessions have ended." };

/** The administrator's own account. */
export const account: Section = {
  title: "Account",
  path: "/account",
  pages() {
    const router = Router();
    router.get("/", (request, response) => show(response, {}, noticeOf(request, notices)));
    router.post("/", async (request, response) => {
      const { run } = visitOf(response);
      const present = passwordOf(request, "present");
      const chosen = passwordOf(request, "chosen");
      const kept = await run(async (client) => {
        const { rows } = await client.query<{ hash: string }>("select administration.own_password() as hash");
        return rows[0]!.hash;
      });
      const errors: Record<string, string> = {};
      if (!(await isPassword(kept, present))) errors.present = "The present password is wrong.";
      const complaint = complaintAbout(chosen, visitorOf(response).name);
      if (complaint !== null) errors.chosen = complaint;
      else if (chosen !== passwordOf(request, "repeated")) errors.repeated = "The two new passwords differ.";
      if (hasErrors(errors)) return show(response, errors);
      const hash = await hashPassword(chosen);
      await run((client) => client.query("select administration.change_password($1, $2)", [kept, hash]));
      response.redirect(303, "/admin/account?done=password");
    });
    return router;
  },
};

function show(response: Response, errors: FieldErrors, notice?: string): void {
  const password = (name: string, label: string, autocomplete: string, hint?: string) =>
    field({ name, label, type: "password", hint, errors, autocomplete });
  const hint = `At least ${minPasswordCharacters} characters. A few words that don’t belong together are good.`;
  showPage(response, {
    title: "Account",
    notice,
    errors,
    body: form(visitOf(response), {
      action: "/account",
      fields: html`
        <input type="hidden" name="username" value="${visitorOf(response).name}" autocomplete="username" />
        <h2>Change password</h2>
        ${password("present", "Present password", "current-password")}
        ${password("chosen", "New password", "new-password", hint)}
        ${password("repeated", "New password, again", "new-password")}
        <p class="quiet">Your other sessions end when you change it.</p>
      `,
      submit: "Change password",
    }),
  });
}

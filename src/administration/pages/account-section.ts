import { checkNewPassword, hashPassword, isPassword, minPasswordCharacters } from "../../auth/passwords.ts";
import { html } from "../../html/html.ts";
import { field, form, hasErrors, passwordField } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import type { Section } from "../section.ts";
import type { Page } from "../show-page.ts";
import { callInTransaction, getVisitor } from "../visit.ts";
import type { Visit } from "../visit.ts";

/** The administrator's own account. */
export const account: Section = {
  title: "Account",
  path: "/account",
  pages: () => ({
    "GET /": (visit) => accountPage(visit),
    "POST /": async (visit) => {
      const present = passwordField(visit, "present");
      const chosen = passwordField(visit, "chosen");
      const kept = await callInTransaction<string>(visit, "own_password()");
      const errors: Record<string, string> = {};
      if (!(await isPassword(kept, present))) errors.present = "The current password is wrong.";
      const complaint = checkNewPassword(chosen, getVisitor(visit).name);
      if (complaint !== null) errors.chosen = complaint;
      else if (chosen !== passwordField(visit, "repeated")) errors.repeated = "The two new passwords differ.";
      if (hasErrors(errors)) return accountPage(visit, errors);
      await callInTransaction(visit, "change_password($1, $2)", kept, await hashPassword(chosen));
      return "/admin/account?done=password";
    },
  }),
};

function accountPage(visit: Visit, errors: FieldErrors = {}): Page {
  const password = (name: string, label: string, autocomplete: string, hint?: string) =>
    field({ name, label, type: "password", hint, errors, autocomplete });
  const hint = `At least ${minPasswordCharacters} characters. Choose a few words that don’t belong together.`;
  return {
    title: "Account",
    notices: { password: "Your password has been changed. Your other sessions have ended." },
    errors,
    body: form(visit, {
      fields: html`
        <input type="hidden" name="username" value="${getVisitor(visit).name}" autocomplete="username" />
        <h2>Change password</h2>
        ${password("present", "Current password", "current-password")}
        ${password("chosen", "New password", "new-password", hint)}
        ${password("repeated", "New password, again", "new-password")}
        <p class="quiet">Changing the password ends your other sessions.</p>
      `,
      submit: "Change password",
    }),
  };
}

import { Router } from "express";
import type { Response } from "express";
import { csrfField } from "../csrf.ts";
import { errorSummary, field, noticeOf, passwordOf } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import { html } from "../html.ts";
import type { Section } from "../section.ts";
import { showPage } from "../page.ts";
import { complaintAbout, hashPassword, isPassword, minPasswordCharacters } from "../../auth/passwords.ts";
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
      const [present, chosen, repeated] = ["present", "chosen", "repeated"].map((name) =>
        passwordOf(request, name),
      ) as [string, string, string];
      const kept = await run(async (client) => {
        const { rows } = await client.query<{ hash: string }>("select administration.own_password() as hash");
        return rows[0]!.hash;
      });
      const errors: Record<string, string> = {};
      if (!(await isPassword(kept, present))) errors.present = "The present password is wrong.";
      const complaint = complaintAbout(chosen, visitorOf(response).name);
      if (complaint !== null) errors.chosen = complaint;
      else if (chosen !== repeated) errors.repeated = "The two new passwords differ.";
      if (Object.keys(errors).length > 0) return show(response, errors);
      const hash = await hashPassword(chosen);
      await run((client) => client.query("select administration.change_password($1, $2)", [kept, hash]));
      response.redirect(303, "/admin/account?done=password");
    });
    return router;
  },
};

function show(response: Response, errors: FieldErrors, notice?: string): void {
  const hasErrors = Object.keys(errors).length > 0;
  const visit = visitOf(response);
  showPage(response, {
    status: hasErrors ? 422 : 200,
    title: "Account",
    prefix: hasErrors ? "Error: " : "",
    notice,
    body: html`
      ${errorSummary(errors)}
      <form method="post" action="/admin/account" class="card narrow" novalidate>
        <h2>Change password</h2>
        ${csrfField(visit)}
        <input type="hidden" name="username" value="${visitorOf(response).name}" autocomplete="username" />
        ${field({ name: "present", label: "Present password", type: "password", errors, autocomplete: "current-password" })}
        ${field({
          name: "chosen",
          label: "New password",
          type: "password",
          hint: `At least ${minPasswordCharacters} characters. A few words that don’t belong together are good.`,
          errors,
          autocomplete: "new-password",
        })}
        ${field({ name: "repeated", label: "New password, again", type: "password", errors, autocomplete: "new-password" })}
        <p class="quiet">Your other sessions end when you change it.</p>
        <div class="actions"><button class="main">Change password</button></div>
      </form>
    `,
  });
}

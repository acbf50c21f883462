import { Router } from "express";
import type { Request, RequestHandler, Response } from "express";
import { isPassword, preparePasswords } from "../auth/passwords.ts";
import { hashOfToken, newSessionToken } from "../auth/session-token.ts";
import { isSecure } from "../html/headers.ts";
import { html } from "../html/html.ts";
import { writeCookie } from "./cookies.ts";
import { field, form, hasErrors, noticeOf, passwordOf, queryOf, textField } from "./forms.ts";
import type { FieldErrors } from "./forms.ts";
import { LogInLimits } from "./log-in-limits.ts";
import { showPage } from "./show-page.ts";
import { ownPath } from "./session.ts";
import { addressOf, visitOf } from "./visit.ts";
import type { AdministrationOptions } from "./section.ts";

const endings = {
  page: "Your session has ended. Log in to continue where you were.",
  form: "Your session had ended before the form was sent, so nothing was changed. Log in, and send it again.",
  out: "You have logged out.",
};

interface Entered {
  status?: number;
  name: string;
  errors: FieldErrors;
}

function showLogIn(request: Request, response: Response, entered?: Entered): void {
  const { name = "", errors = {} } = entered ?? {};
  const next = ownPath(textField(request, "next") || queryOf(request, "next"));
  const ended = entered ? undefined : noticeOf(request, endings);
  showPage(response, {
    status: entered?.status,
    title: "Log in",
    errors,
    body: html`
      ${ended && html`<p class="notice" role="status">${ended}</p>`}
      ${form(visitOf(response), {
        action: "/log-in",
        fields: html`
          <input type="hidden" name="next" value="${next}" />
          ${field({ name: "name", label: "Name or e-mail address", value: name, errors, autocomplete: "username" })}
          ${field({ name: "password", label: "Password", type: "password", errors, autocomplete: "current-password" })}
        `,
        submit: "Log in",
      })}
      <p class="quiet">
        If you have forgotten it, an operator of the service can give you a new password with
        <code>npx erp admin reset-password</code>.
      </p>
    `,
  });
}

/** The log-in page. */
export function logIn({ pool, publicUrl }: AdministrationOptions): Router {
  const limits = new LogInLimits(pool);
  preparePasswords();
  const router = Router();
  router.get("/", (request, response) => showLogIn(request, response));
  router.post("/", async (request, response) => {
    const name = textField(request, "name").slice(0, 200);
    const password = passwordOf(request, "password");
    const errors = {
      ...(name === "" && { name: "Enter your name or e-mail address." }),
      ...(password === "" && { password: "Enter your password." }),
    };
    if (hasErrors(errors)) return showLogIn(request, response, { name, errors });

    const address = addressOf(request);
    const seconds = await limits.count(name, address);
    if (seconds !== null) {
      response.setHeader("retry-after", seconds);
      const minutes = Math.ceil(seconds / 60);
      const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
      const text = `Logging in has failed too often. Wait ${wait} before you try again.`;
      return showLogIn(request, response, { status: 429, name, errors: { name: text } });
    }
    const token = await startSession(response, name, password);
    if (token === null) {
      const text = "The name or the password is wrong.";
      return showLogIn(request, response, { name, errors: { name: text } });
    }
    await limits.forget(name, address);
    const secure = isSecure(request, publicUrl);
    writeCookie(response, "session", token, secure);
    writeCookie(response, "visitor", null, secure);
    response.redirect(303, ownPath(textField(request, "next")));
  });
  return router;
}

/** Begins a session and returns its token; null when the name or the password is wrong. */
async function startSession(response: Response, name: string, password: string): Promise<string | null> {
  const { run, visitor } = visitOf(response);
  // Postgres refuses null characters. No administrator has such a name.
  const known = name.includes("\0")
    ? undefined
    : await run(async (client) => {
        const { rows } = await client.query<{ id: string; hash: string }>(
          "select administrator_id as id, password_hash as hash from administration.password_of($1)",
          [name],
        );
        return rows[0];
      });
  const isRight = await isPassword(known?.hash ?? null, password);
  if (!known || !isRight) {
    await run((client) =>
      client.query("select administration.note_refused_log_in($1)", [name.replaceAll("\0", "")]),
    );
    return null;
  }
  // The browser loses the token of its previous session, so nobody could end that later
  if (visitor) await run((client) => client.query("select administration.end_session()"));
  const token = newSessionToken();
  await run((client) =>
    client.query("select administration.start_session($1, $2, $3)", [
      known.id,
      known.hash,
      hashOfToken(token),
    ]),
  );
  return token;
}

/** Ends the session. */
export function logOut({ publicUrl }: AdministrationOptions): RequestHandler {
  return async (request, response) => {
    await visitOf(response).run((client) => client.query("select administration.end_session()"));
    writeCookie(response, "session", null, isSecure(request, publicUrl));
    response.redirect(303, "/admin/log-in?done=out");
  };
}

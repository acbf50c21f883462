import type { Pool } from "pg";
import { isPassword, preparePasswords } from "../auth/passwords.ts";
import { hashToken, newSessionToken } from "../auth/session-token.ts";
import { html } from "../html/html.ts";
import { field, form, hasErrors, passwordField, queryParameter, textField } from "./forms.ts";
import type { FieldErrors } from "./forms.ts";
import { LogInLimits } from "./log-in-limits.ts";
import type { Pages } from "./section.ts";
import { administrationPath, writeCookie } from "./session.ts";
import type { Page } from "./show-page.ts";
import { callInTransaction, callForRows } from "./visit.ts";
import type { Visit } from "./visit.ts";

const sessionEndTexts: Readonly<Record<string, string>> = {
  page: "Your session has ended. Log in to continue where you were.",
  form: "Your session had ended before the form was sent, so nothing was changed. Log in, and send it again.",
  out: "You have logged out.",
};

function logInPage(visit: Visit, errors: FieldErrors = {}, status?: number): Page {
  const next = administrationPath(textField(visit, "next") || queryParameter(visit, "next"));
  const done = queryParameter(visit, "done");
  const ended = Object.hasOwn(sessionEndTexts, done) && sessionEndTexts[done];
  const value = textField(visit, "name").slice(0, maxName);
  return {
    status,
    title: "Log in",
    errors,
    body: html`
      ${ended && html`<p class="notice" role="status">${ended}</p>`}
      ${form(visit, {
        fields: html`
          <input type="hidden" name="next" value="${next}" />
          ${field({ name: "name", label: "Name or e-mail address", value, errors, autocomplete: "username" })}
          ${field({ name: "password", label: "Password", type: "password", errors, autocomplete: "current-password" })}
        `,
        submit: "Log in",
      })}
      <p class="quiet">
        If you have forgotten it, an operator of the service can give you a new password with
        <code>npx erp admin reset-password</code>.
      </p>
    `,
  };
}

/** Most characters of a name. */
const maxName = 200;

/** The pages that log in. */
export function logIn(pool: Pool): Pages {
  const limits = new LogInLimits(pool);
  preparePasswords();
  return {
    "GET /": (visit) => logInPage(visit),
    "POST /": async (visit) => {
      const name = textField(visit, "name").slice(0, maxName);
      const password = passwordField(visit, "password");
      const errors = {
        ...(name === "" && { name: "Enter your name or e-mail address." }),
        ...(password === "" && { password: "Enter your password." }),
      };
      if (hasErrors(errors)) return logInPage(visit, errors);

      const seconds = await limits.count(name, visit.address);
      if (seconds !== null) {
        visit.response.setHeader("retry-after", seconds);
        const minutes = Math.ceil(seconds / 60);
        const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
        const text = `Logging in has failed too often. Wait ${wait} before you try again.`;
        return logInPage(visit, { name: text }, 429);
      }
      const token = await startSession(visit, name, password);
      if (token === null) return logInPage(visit, { name: "The name or the password is wrong." });
      await limits.forget(name, visit.address);
      writeCookie(visit, "session", token);
      writeCookie(visit, "visitor", null);
      return administrationPath(textField(visit, "next"));
    },
  };
}

/** Starts a session and returns its token, or null if the name or the password is wrong. */
async function startSession(visit: Visit, name: string, password: string): Promise<string | null> {
  // Postgres refuses null characters. No administrator has such a name.
  const [known] = name.includes("\0")
    ? []
    : await visit.run((client) =>
        callForRows<{ administrator_id: string; password_hash: string }>(client, "password_of($1)", name),
      );
  const isRight = await isPassword(known?.password_hash ?? null, password);
  if (!known || !isRight) {
    await callInTransaction(visit, "note_refused_log_in($1)", name.replaceAll("\0", ""));
    return null;
  }
  // The browser is about to lose the previous session's token, so nobody could end that session later
  if (visit.visitor) await callInTransaction(visit, "end_session()");
  const token = newSessionToken();
  const { administrator_id: id, password_hash: hash } = known;
  await callInTransaction(visit, "start_session($1, $2, $3)", id, hash, hashToken(token));
  return token;
}

/** The action that logs out. */
export const logOut: Pages = {
  "POST /": async (visit) => {
    await callInTransaction(visit, "end_session()");
    writeCookie(visit, "session", null);
    return "/admin/log-in?done=out";
  },
};

import type { PoolClient } from "pg";
import { count, moment } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";

/** An operation that a token may send by its hash. */
interface StoredOperation {
  version: string;
  sha256: string;
  name: string;
  bytes: number;
  published_at: Date;
  /** Null: it is stored for all tokens. */
  credential_id: string | null;
}

/** The operations that a token may send by their hash. */
export async function readStoredOperations(client: PoolClient, id: string): Promise<StoredOperation[]> {
  const { rows } = await client.query<StoredOperation>("select * from administration.stored_operations($1)", [
    id,
  ]);
  return rows;
}

/** The choice between all operations and stored ones. */
export function operationsOption(storedOnly: boolean): Html {
  return html`<div class="field">
    <label class="option">
      <input type="checkbox" name="operations" value="stored" ${storedOnly && "checked"} />
      <span
        ><strong>Stored operations only</strong> All others are refused.
        <code>npx erp operations</code> stores them.</span
      >
    </label>
  </div>`;
}

/** Which operations a token may send. */
export function storedOperations(operations: readonly StoredOperation[], storedOnly: boolean): Html {
  return html`<section class="card" aria-labelledby="operations">
    <h2 id="operations">Operations</h2>
    <p class="${!storedOnly && "quiet"}">
      ${storedOnly ? "Stored operations only; all others are refused." : "All operations."}
      ${operations.length === 0 && "None is stored for this token."}
    </p>
    ${operations.length > 0 && table(operations)}
  </section>`;
}

const table = (operations: readonly StoredOperation[]): Html =>
  html`<div class="wide" role="region" aria-label="Stored operations" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Stored operation</th>
          <th scope="col">Version</th>
          <th scope="col">SHA-256</th>
          <th scope="col" class="number">Bytes</th>
          <th scope="col">Stored</th>
          <th scope="col">For</th>
        </tr>
      </thead>
      <tbody>
        ${operations.map(
          ({ name, version, sha256, bytes, published_at: at, credential_id: id }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>${version}</td>
              <td><code title="${sha256}">${sha256.slice(0, 12)}…</code></td>
              <td class="number">${count(bytes)}</td>
              <td>${moment(at)}</td>
              <td>${id === null ? "all tokens" : "this token"}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

import type pg from "pg";

/** Adds bulk operations of an API credential, which only that credential sees: one with a file, one with refused rows. */
export async function addBulkOperations(owner: pg.Pool | pg.ClientBase, credentialId: string): Promise<void> {
  await owner.query(
    `insert into bulk.operation (credential_id, scopes, kind, state, resource, format, row_count, done_count, refused_count,
       error_code, error_message, started_at, finished_at, expires_at)
     values
       ($1, '{}', 'export', 'completed', 'products', 'jsonl', 2, 2, 0, null, null, now(), now(), now() + interval '7 days'),
       ($1, '{}', 'import', 'failed', 'products', 'csv', 2, 1, 1, 'SCOPE_MISSING', 'It lacks a scope.', now(), now(),
         now() + interval '7 days')`,
    [credentialId],
  );
}

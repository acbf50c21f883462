-- What a key stands for, and what a mutation is asked for.
--!include functions/mutation/user_errors.sql
--!include functions/mutation/digest.sql
--!include functions/mutation/run.sql
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of what its input means, by mutation.digest.';

-- What is said about bookings: of products that only stand for variants, and of units that orders wait for.
--!include functions/erp/has_variants.sql
--!include functions/ledger/check_variants.sql
--!include functions/ledger/warn_of_promises.sql
--!include functions/ledger/post.sql

-- How many rows lists of payloads can have, in the frozen version too: what is asked costs as much there.
do $$
declare
  item record;
begin
  for item in
    select a.attrelid::regclass as type, a.attname as name, t.tags || E'\n' ||
      regexp_replace(col_description(a.attrelid, a.attnum), '(?n)^@(perLine|atMost) .*\n', '', 'g') as note
    from (values
      ('stock_payload', 'stock_movements', '@perLine lines'),
      ('stock_payload', 'stocks', '@perLine lines 2'),
      ('goods_receipt_booking_payload', 'stock_movements', E'@atMost 500\n@perLine put_away'),
      ('goods_receipt_booking_payload', 'stocks', E'@atMost 500\n@perLine put_away'),
      ('order_shipment_complete_payload', 'documents', '@perLine documents')
    ) t (type, name, tags)
    join pg_attribute a
      on a.attrelid = format('api_2026_06_unstable.%I', t.type)::regclass and a.attname = t.name
  loop
    execute format('comment on column %s.%I is %L', item.type, item.name, item.note);
  end loop;
end
$$;

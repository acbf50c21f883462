--! Previous: sha1:bafcae14e0e5bf330adc7d6e19c9b2dce92a01f0
--! Hash: sha1:0918a39b529fb59496a82c217e57a0fd41a153b0
--! Message: document-amounts

--! split: 1-current.sql
-- Enter migration here

--! split: 0110-document-amounts.sql
-- Documents tax lines without a rate as their order does, so that both come to the same
--! Included functions/erp/document_amounts.sql
-- Prices in erp.sales_order_line_item are with tax, whatever the tax status of the order. This one and document_config
-- return rows, for then Postgres puts them into the query that calls them, instead of starting a new one each time.
create or replace function erp.document_amounts(order_id uuid, tax_status text, with_prices boolean) returns table (amounts jsonb)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.label, l.description, p.product_number, l.quantity, l.unit_price,
      l.total_price as total, case when tax_status = 'tax-free' then 0 else l.tax_rate end as rate
    from erp.sales_order_line_item l left join erp.product p on p.id = l.product_id
    where l.order_id = document_amounts.order_id
      -- What is taken off the price is in no parcel
      and (with_prices or l.type is null or l.type not in ('promotion', 'credit'))
  ),
  -- As ledger.order_amounts has it: lines without a rate, such as promotions, are taxed as the others on average
  average as (
    select coalesce(sum(round(total * 100 / (100 + rate), 2)) / nullif(sum(total) filter (where rate is not null), 0), 1) as factor,
      coalesce(sum(total) filter (where rate is null), 0) as unrated
    from line
  ),
  -- Sums are rounded, not their parts, so that the parts add up
  taxed as (
    select l.*, case when rate is not null then round(total * 100 / (100 + rate), 2) else
      round(factor * sum(total) over unrated_so_far, 2) - round(factor * (sum(total) over unrated_so_far - total), 2) end as net
    from line l, average
    window unrated_so_far as (partition by rate is null order by n)
  ),
  rated as (
    select coalesce(rate, 0) as rate, sum(net) as net, sum(total) as total,
      sum(sum(net)) over by_rate as net_so_far, sum(sum(total)) over by_rate as total_so_far
    from taxed where rate is not null or not exists (select from taxed where rate is not null) group by 1
    window by_rate as (order by coalesce(rate, 0))
  ),
  spread as (
    select unrated as total, round(unrated * factor, 2) as net,
      nullif((select sum(total) from rated), 0) as rated_total, nullif((select sum(net) from rated), 0) as rated_net
    from average where exists (select from taxed where rate is not null)
  ),
  by_rate as (
    select r.rate,
      r.net + coalesce(round(s.net * r.net_so_far / s.rated_net, 2) - round(s.net * (r.net_so_far - r.net) / s.rated_net, 2), 0) as net,
      r.total + coalesce(round(s.total * r.total_so_far / s.rated_total, 2) - round(s.total * (r.total_so_far - r.total) / s.rated_total, 2), 0)
        as total
    from rated r left join spread s on true
  )
  select jsonb_build_object(
    'lines', coalesce((
      select jsonb_agg(jsonb_build_object('position', n, 'label', label, 'description', description, 'productNumber', product_number,
          'quantity', quantity)
        || case when with_prices then jsonb_build_object(
          -- With four digits, so that times the quantity it is what the line comes to
          'unitPrice', case when tax_status = 'net' then round(unit_price * coalesce(100 / (100 + rate), net / nullif(total, 0), 1), 4) else unit_price end,
          'total', case when tax_status = 'net' then net else total end,
          'taxRate', case when tax_status <> 'tax-free' then rate end) else '{}' end order by n)
      from taxed), '[]'),
    'totals', case when with_prices then (
      select jsonb_build_object('net', coalesce(sum(net), 0), 'total', coalesce(sum(total), 0),
        'taxes', coalesce(jsonb_agg(jsonb_build_object('rate', rate, 'net', net, 'tax', total - net) order by rate)
          filter (where tax_status <> 'tax-free'), '[]'))
      from by_rate) end);
end;
comment on function erp.document_amounts(uuid, text, boolean) is
  'The lines of an order and what they come to, as documents show them: prices without tax where the tax status is net, and none at all on delivery notes.';

create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return jsonb_build_object(
  'lines', (
    select coalesce(jsonb_agg(line || jsonb_build_object('unitPrice', - (line ->> 'unitPrice')::numeric, 'total', - (line ->> 'total')::numeric)
      order by n), '[]')
    from jsonb_array_elements(amounts -> 'lines') with ordinality v (line, n)),
  'totals', jsonb_build_object('net', - (amounts #>> '{totals,net}')::numeric, 'total', - (amounts #>> '{totals,total}')::numeric,
    'taxes', (
      select coalesce(jsonb_agg(jsonb_build_object('rate', tax -> 'rate', 'net', - (tax ->> 'net')::numeric, 'tax', - (tax ->> 'tax')::numeric)
        order by n), '[]')
      from jsonb_array_elements(amounts #> '{totals,taxes}') with ordinality v (tax, n))));
comment on function erp.reversed_amounts(jsonb) is 'The lines and totals of a document, with every amount negative.';
--! EndIncluded functions/erp/document_amounts.sql

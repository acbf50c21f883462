-- Orders and their lines
create function demo.orders() returns integer language sql stable return 500 * demo.scale();

-- Some orders have 14 lines: 17 of 500 is shipped in 14 parcels, 267 from as many fulfillment orders, 117 and
-- 367 at once.
create table demo.sales_order as
select *, kind = 'digital' as is_digital,
  case when n % 7 = 0 and n % 14 > 0 then 2 else 1 end as second_warehouse
from (
  select n, demo.id('order', n) as id, demo.moment('order', n, demo.orders()) as at,
    case when n % 250 in (17, 117) then 'long' when n % 47 = 0 then 'digital'
      when n % 19 = 0 then 'external' when n % 20 = 3 then 'bundle' else 'plain' end as kind,
    case
      when n % 250 in (17, 117) then 'completed'
      -- Not checked out yet: without number and amounts
      when n % 120 = 31 then 'open'
      when n > demo.orders() * 0.94
        then case when demo.pick(n, 'state', 5) < 3 then 'open' else 'in_progress' end
      when demo.pick(n, 'state', 100) < 6 then 'cancelled'
      when n > demo.orders() * 0.88 and demo.pick(n, 'state', 100) < 40 then 'in_progress'
      when demo.pick(n, 'state', 100) = 99 then 'open'
      else 'completed'
    end as state,
    -- Customers with a low number order more often
    case
      when n % 40 = 9 then 1
      else 1 + demo.pick(n, 'customer', 1 + demo.pick(n, 'regular', demo.customers())) end as customer_n,
    demo.pick(n, 'progress', 3) as progress,
    n % 250 not in (17, 117) and demo.pick(n, 'return', 100) < 7 and n % 19 > 0 and n % 47 > 0
      and n < demo.orders() * 0.88 as wants_return
  from generate_series(1, demo.orders()) n
) v;
alter table demo.sales_order
  add primary key (n), add channel integer, add currency integer, add currency_id uuid, add factor numeric,
    add tax_status text;
update demo.sales_order o
set channel = c.channel, currency = v.currency, currency_id = demo.id('currency', v.currency),
  factor = x.factor,

  -- Without tax go businesses in France that have a VAT number
  tax_status
    = case
      when c.channel < 3 then 'gross'
      when v.currency > 1 and c.n % 3 > 0 and o.n % 70 <> 33 then 'tax-free'
      else 'net' end
from demo.customer c,
  lateral (
    select (
      array[array[1, 1, 1, 4], array[3, 3, 3, 2], array[1, 1, 4, 2]]
    )[c.channel][1 + c.n % 4] as currency
  ) v
join erp.currency x on x.id = demo.id('currency', v.currency)
where c.n = o.customer_n;
analyze demo.sales_order;

-- Slots 1 to 14 hold products; 20 a bundle that has them as children, 21 a promotion, 22 a credit, 23
-- something made to order.
create table demo.line as
with
slot as (
  select n as order_n, slot, n * 32 + slot as key
  from demo.sales_order,
    generate_series(
      1, case kind when 'long' then 14 when 'digital' then 0 else 1 + demo.pick(n, 'lines', 5) end
    ) slot
),
chosen as (
  -- A choice among the first of a choice: low numbers sell best
  select *,
    1 + demo.pick(key, 'product', 1 + demo.pick(key, 'shelf', (select count(*) from demo.stocked))) as s,
    case
      when slot = 1 and order_n % 250 = 117 then 24
      else 1 + demo.pick(key, 'one', 3) / 2 * demo.pick(key, 'quantity', 5) end as quantity
  from slot
)
select c.key, c.order_n, c.slot, 'product' as type, p.n as product_n, c.key % 90 = 50 as is_gone, c.quantity,
  p.label, p.number as identifier, p.tax_rate, p.has_batches,
  case when p.has_batches then 1 + demo.pick(c.key, 'batch', p.batches) end as batch,
  case when o.currency = 1 then round(p.gross, 2) else ceil(p.gross * o.factor) - 0.05 end as unit_price,
  case when o.kind = 'bundle' or o.n % 250 = 117 then o.n * 32 + 20 end as parent_key,
  case
    when o.is_digital then 0
    when o.state = 'completed' then c.quantity
    when o.state = 'in_progress'
      and o.progress > 0 then case when (c.slot + o.progress) % 2 = 0 then c.quantity else c.quantity / 2 end
    else 0
  end as shipped,
  case when o.is_digital or o.state = 'open' and o.progress = 0 then null
    when o.n % 500 = 267 then c.slot when o.n % 7 = 0
      and c.slot % 2 = 0 then 2 else 1 end as fulfillment_order
from chosen c join demo.sales_order o on o.n = c.order_n join demo.stocked p on p.s = c.s
union all
select n * 32 + slot, n, slot, type, null, false, 1, label, identifier,
  case when slot = 23 and n % 25 = 6 then 0 when type = 'custom' then 19 end,
  false, null,
  case slot when 20 then 0 when 21 then -5 when 22 then -12.5 else 25 + demo.pick(n, 'voucher', 4) * 25 end,
    null,
  case when o.state = 'completed' and slot in (20, 23) then 1 else 0 end, null
from demo.sales_order o,
  (values (20, 'custom', 'Geschenkset', 'set'), (21, 'promotion', 'Summit week −5', 'SUMMIT5'),
  (22, 'credit', 'Avoir fidélité', 'loyalty'), (23, 'custom', 'Gift voucher', 'voucher')) as v (slot, type,
    label, identifier)
where slot = 20 and (kind = 'bundle' or n % 250 = 117) or slot = 21
  and n % 8 = 1 or slot = 22 and n % 30 = 4 or slot = 23 and (is_digital or n % 25 = 6);
alter table demo.line add primary key (key);
create index on demo.line (order_n);
-- Nothing is left to do when all of a short order is shipped
update demo.sales_order o set state = 'completed'
where state = 'in_progress' and not is_digital
  and not exists (
    select from demo.line l where l.order_n = o.n and l.type = 'product' and l.shipped < l.quantity
  );
analyze demo.line;

insert into erp.sales_order (id, order_number, order_date_time, state, delivery_state, payment_state,
  tax_status,
  currency_id, sales_channel_id, customer_id,
  shipping_method_id, payment_method_id, shipping_address, billing_address, tracking_codes, storefront_id,
  buyer_reference, purchase_order_number, due_date, exchange_rate, exchange_rate_date, exchange_rate_source,
    created_at, updated_at)
select o.id, case when o.n % 120 <> 31 then demo.number('SO-', o.n) end, o.at, o.state,
  case
    when o.is_digital then null
    when o.state = 'cancelled' then 'cancelled'
    when o.state = 'completed'
      and o.wants_return then case when o.n % 2 = 0 then 'returned' else 'returned_partially' end
    when o.state = 'completed' then 'shipped'
    when sum(l.shipped) filter (where l.type = 'product') > 0 then 'shipped_partially'
    else 'open'
  end,
  case
    when o.n % 90 = 60 then null
    when o.state = 'cancelled' or o.wants_return
      and o.n % 2 = 0 then demo.one_of(o.n, 'paid', array['refunded', 'cancelled'])
    when o.state = 'completed' then case when o.n % 30 = 7 then 'reminded' else 'paid' end
    else demo.one_of(o.n, 'paid', array['open', 'paid', 'paid', 'authorized', 'paid_partially'])
  end,
  o.tax_status, o.currency_id, case when o.n % 110 <> 45 then demo.id('sales_channel', o.channel) end,
    case when o.n % 70 <> 33 then demo.id('customer', o.customer_n) end,
  case when not o.is_digital then demo.id('shipping_method', 1 + demo.pick(o.n, 'shipping', 4)) end,
    case when o.n % 120 <> 31 then demo.id('payment_method', 1 + demo.pick(o.n, 'payment', 11)) end,
  case
    when not o.is_digital
      then demo.address(o.customer_n, (array['Germany', 'United Kingdom', 'France'])[o.channel]) end,
  -- Carts that have not been checked out have none
  case when o.n % 120 <> 31
    then demo.address(o.customer_n, (array['Germany', 'United Kingdom', 'France'])[o.channel]) end,
  case when not o.is_digital then '[]'::jsonb end,
  case when o.channel < 3 and o.n % 4 > 0 then 'gid://storefront/Order/' || 4000000 + o.n end,
  case when o.channel = 3 and o.n % 5 = 0 then 'Project ' || o.n % 17 end,
  case when o.channel = 3 and o.n % 2 = 0 then 'PO-' || 700000 + o.n end,
  case when o.channel = 3 and o.n % 9 = 0 then (o.at + interval '30 days')::date end,
  case when o.currency > 1 and o.n % 8 = 0 then round(o.factor, 4) end,
  case when o.currency > 1 and o.n % 8 = 0 then o.at::date end,
  case when o.currency > 1 and o.n % 8 = 0 then 'agreed' end,
  o.at + case when o.n % 9 = 0 then interval '90 seconds' else interval '0' end,
  case
    when o.state <> 'open'
      then least(o.at + interval '1 day' * (1 + demo.pick(o.n, 'updated', 6)), demo.today()) end
from demo.sales_order o left join demo.line l on l.order_n = o.n
group by o.n order by o.n;

insert into erp.sales_order_line_item (id, order_id, parent_id, product_id, type, identifier, label,
  description, position, quantity,
  shipped_quantity, unit_price, total_price, tax_rate, payload,
  storefront_id, tax_category, exemption_code, discount_reason, unit_code, created_at, updated_at)
select demo.id('order line', l.key), o.id, demo.id('order line', l.parent_key),
  case when not l.is_gone then demo.id('product', l.product_n) end,
  case when l.slot <> 23 or l.order_n % 4 > 0 then l.type end,
  l.identifier, l.label,
    case
      when l.key % 6 = 1 then demo.one_of(l.key, 'note', array['Als Geschenk verpacken', 'Taille à vérifier',
    'Please engrave: A. B.']) end,
  row_number() over (partition by l.order_n order by l.slot < 20, l.slot), l.quantity, l.shipped,
  case when l.order_n % 120 <> 31 then l.unit_price end,
    case when l.order_n % 120 <> 31 then
      case
        when l.slot = 2 and l.order_n % 31 = 5 then round(l.unit_price * l.quantity * 0.9, 2)
        else l.unit_price * l.quantity end end, l.tax_rate,
  case
    when l.type = 'promotion' then jsonb_build_object('identifier', l.identifier, 'discountType', 'absolute')
  end,
  case
    when l.type = 'product' and o.channel < 3
      and o.n % 4 > 0 then 'gid://storefront/LineItem/' || 80000000 + l.key end,
  case when l.tax_rate > 0 and l.key % 9 = 1 then 'S' when l.tax_rate = 0 then 'E' end,
  case when l.tax_rate = 0 and l.order_n % 2 = 0 then 'VATEX-EU-132' end,
  case when l.slot = 2 and l.order_n % 31 = 5 then 'Winter sale' end,
  case when l.type = 'product' and l.key % 11 = 1 then 'H87' end,
  o.at, case when l.shipped > 0 then least(o.at + interval '2 days', demo.today()) end
from demo.line l join demo.sales_order o on o.n = l.order_n
order by l.key;

-- In larger shops, discounts exceed the goods of some orders
update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net,
  paid_amount = case o.payment_state when 'paid' then greatest(a.amount_total, 0)
    when 'paid_partially' then greatest(round(a.amount_total / 2, 2), 0) end
from erp.sales_order d cross join lateral ledger.order_amounts(d.id, d.tax_status) a where d.id = o.id;

insert into erp.order_tag (order_id, tag_id)
select o.id, demo.id('tag', t) from demo.sales_order o, generate_series(1, 24) t
where case when o.n = 17 then t <= 12 else demo.pick(o.n * 32 + t, 'order tag', 60) = 0 end;

-- Fulfillment orders, fulfillments and labels
create table demo.fulfillment_order as
select row_number() over (order by order_n, fo) as n, *,
  demo.id('fulfillment order', row_number() over (order by order_n, fo)) as id
from (
  select o.n as order_n, l.fulfillment_order as fo, least(o.at + interval '10 minutes', demo.today()) as at,
    o.kind = 'external' as is_external,
    o.customer_n, o.channel,
    case when l.fulfillment_order = 2 and o.n % 500 <> 267 then o.second_warehouse else 1 end as warehouse,
    case when sum(l.shipped) = sum(l.quantity) then 'Closed' when o.state = 'cancelled' then 'Cancelled'
      when o.n % 9 = 0 then 'OnHold' when sum(l.shipped) > 0
        or o.state = 'in_progress' then 'InProgress' else 'Open' end as state
  from demo.sales_order o join demo.line l on l.order_n = o.n where l.fulfillment_order is not null
  group by o.n, l.fulfillment_order
) v;
alter table demo.fulfillment_order add primary key (n);
create index on demo.fulfillment_order (order_n, fo);
analyze demo.fulfillment_order;

insert into erp.fulfillment_order (id, number, type, state, state_before_hold, is_partially_fulfilled,
  destination_order_id,
  source_warehouse_location_id, external_location_name,
  shipping_method_id, shipping_method_name, shipping_address, storefront_id, created_at, updated_at,
    hold_comment)
select f.id, demo.number('FO-', f.n),
  case when is_external then 'ExternalToOrder' else 'WarehouseLocationToOrder' end, state,
  case when state = 'OnHold' then case when order_n % 2 = 0 then 'Open' else 'InProgress' end end, false,
  case when order_n % 300 <> 203 or state <> 'Closed' then demo.id('order', order_n) end,
  case
    when not is_external and (order_n % 46 > 0 or state <> 'Closed') then demo.id('location', warehouse) end,
  case
    when is_external
        then demo.one_of(order_n, 'external', array['Marketplace fulfilment centre', 'Logistikpartner Süd'])
  end,
  case when order_n % 12 <> 5 then s.id end, case when order_n % 12 <> 5 then s.name ->> 'en-GB' end,
  case
    when order_n % 26 <> 11
      then demo.address(customer_n, (array['Germany', 'United Kingdom', 'France'])[channel]) end,
  case when channel < 3 and order_n % 4 > 0 then 'gid://storefront/FulfillmentOrder/' || 6000000 + f.n end,
  at, case when state <> 'Open' then least(at + interval '1 day', demo.today()) end,
  case
    when state = 'OnHold'
      and order_n % 4 > 0
        then demo.one_of(
          order_n, 'hold', array['Anschrift wird geprüft', 'Waiting for payment', 'Le client rappelle lundi']
        ) end
from demo.fulfillment_order f
join erp.shipping_method s on s.id = demo.id('shipping_method', 1 + demo.pick(order_n, 'shipping', 4))
order by f.n;

insert into erp.fulfillment_order_line_item (id, fulfillment_order_id, destination_order_line_item_id,
  product_id, quantity, fulfilled_quantity,
  storefront_id, created_at, updated_at)
select demo.id('fulfillment order line', l.key), f.id,
  case when l.key % 350 <> 99 then demo.id('order line', l.key) end,
  case when not is_gone then demo.id('product', product_n) end, quantity, shipped,
  case
    when channel < 3
      and l.order_n % 4 > 0 then 'gid://storefront/FulfillmentOrderLineItem/' || 60000000 + l.key end,
    f.at,
    case when shipped > 0 then least(f.at + interval '1 day', demo.today()) end
from demo.line l join demo.fulfillment_order f on f.order_n = l.order_n and f.fo = l.fulfillment_order
order by l.key;

update erp.fulfillment_order f set is_partially_fulfilled = true
from (select fulfillment_order_id as id from erp.fulfillment_order_line_item group by 1
  having sum(fulfilled_quantity) > 0
  and sum(fulfilled_quantity) < sum(quantity)) p
where p.id = f.id;

-- A line goes out in one parcel or several. Parcel 15 of an order was cancelled and came back.
create table demo.parcel_line as
with
part as (
  select l.*, f.n as fulfillment_order_n, f.id as fulfillment_order_id, f.warehouse, f.is_external, p.part,
    case
      when p.part = 15 then l.shipped
      when packing.way = 'a dozen' then 2
      when packing.way = 'halves'
        then case p.part when 1 then l.shipped / 2 else l.shipped - l.shipped / 2 end
      else l.shipped
    end as sent,
    -- Orders of which both halves leave from the same place are packed together
    case when l.order_n % 14 = 0 then 0 else (l.fulfillment_order - 1) * 16 end + p.part as parcel
  from demo.line l join demo.fulfillment_order f on f.order_n = l.order_n and f.fo = l.fulfillment_order,
    lateral (
      select case
        when l.order_n % 500 = 17 then 'one parcel per line'
        when l.order_n % 250 = 117 then case when l.slot = 1 then 'a dozen' else 'whole' end
        when l.order_n % 11 = 0 and l.shipped > 1 then 'halves'
        else 'whole' end as way
    ) packing,
    lateral (
      select l.slot as part where packing.way = 'one parcel per line'
      union all select generate_series(
        1,
        case packing.way
          when 'one parcel per line' then 0
          when 'a dozen' then 12
          when 'halves' then 2
          else 1 end
      )
      union all select 15 where l.order_n % 33 = 5
    ) p
  where l.shipped > 0
)
select *, least(o_at + interval '6 hours' * (1 + demo.pick(order_n, 'packed', 6)) + interval '3 hours' * case
  when parcel % 16 = 15 then 0 else 1 + parcel % 16 end, demo.today() - interval '2 hours') as sent_at
from part join (select n, at as o_at, channel from demo.sales_order) o on o.n = part.order_n;
analyze demo.parcel_line;

create table demo.fulfillment as
select row_number() over (order by sent_at, order_n, parcel) as n, *,
  demo.id('fulfillment', row_number() over (order by sent_at, order_n,
  parcel)) as id
from (select order_n, parcel, parcel % 16 = 15 as is_cancelled, min(sent_at) as sent_at,
  min(channel) as channel,
  bool_or(is_external) as is_external, min(fulfillment_order_n) as fulfillment_order_n
  from demo.parcel_line group by order_n, parcel) v;
alter table demo.fulfillment add primary key (order_n, parcel);
analyze demo.fulfillment;

insert into erp.fulfillment (id, number, state, storefront_id, created_at, updated_at)
select id, demo.number('F-', n), case when is_cancelled then 'Cancelled' else 'Fulfilled' end,
  case when channel < 3 and order_n % 4 > 0 then 'gid://storefront/Fulfillment/' || 6500000 + n end, sent_at,
    case when is_cancelled then sent_at + interval '1 hour' end
from demo.fulfillment order by n;

insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id)
select distinct l.fulfillment_order_id, f.id
from demo.parcel_line l
join demo.fulfillment f
using (order_n, parcel);

insert into erp.fulfillment_line_item (id, fulfillment_id, fulfillment_order_id,
  fulfillment_order_line_item_id, product_id, quantity, created_at,
  updated_at)
select demo.id('fulfillment line', l.key * 16 + l.part), f.id, l.fulfillment_order_id,
  demo.id('fulfillment order line', l.key),
  case when not is_gone then demo.id('product', product_n) end, sent, f.sent_at, null
from demo.parcel_line l join demo.fulfillment f using (order_n, parcel)
order by l.key, l.part;

-- Labels: one per parcel, sometimes one that failed before, and one for returns
create table demo.label as
select row_number() over (order by at, key) as n, *
from (
  select f.n * 4 as key, f.sent_at as at, f.order_n, f.fulfillment_order_n,
    case when is_cancelled then 'cancelled' else 'created' end as state,
    'outgoing' as type from demo.fulfillment f where not is_external
  union all
  select f.n * 4 + 1, f.sent_at, f.order_n, f.fulfillment_order_n, 'failed', 'outgoing'
  from demo.fulfillment f
  where not is_external and f.n % 29 = 0
  union all
  select 2, o.at + interval '6 days', o.n, null, 'created', 'return'
  from demo.sales_order o
  where wants_return and state = 'completed'
) v;

insert into erp.shipping_label (id, state, type, carrier_technical_name, carrier_name, tracking_codes,
  tracking_url, document_url,
  weight_in_grams, fulfillment_order_id, order_id, cancelled_at, created_at, updated_at)
select demo.id('label', l.n), l.state, l.type, (array['dhl', 'colissimo', 'royal_mail'])[1 + carrier],
  case when l.n % 9 > 0 then (array['DHL', 'Colissimo', 'Royal Mail'])[1 + carrier] end,
  case when l.state = 'failed' then '[]'::jsonb else jsonb_build_array(code) end,
  case when l.state <> 'failed' then 'https://tracking.example.com/' || code end,
  case when l.state = 'created' then 'https://labels.example.com/' || code || '.pdf' end,
  case when l.n % 5 > 0 then 200 + demo.pick(l.n, 'weight', 9000) end,
  f.id, case when l.n % 200 <> 111 then demo.id('order', l.order_n) end,
    case when l.state = 'cancelled' then l.at + interval '1 hour' end, l.at,
    case when l.state = 'cancelled' then l.at + interval '1 hour' end
from demo.label l left join demo.fulfillment_order f on f.n = l.fulfillment_order_n,
  lateral (
    select demo.pick(l.order_n, 'carrier', 3) as carrier,
      'JJD' || demo.padded(7000000000 + l.n * 37, 12) as code
  ) v
order by l.n;

update erp.sales_order o set tracking_codes = t.codes
from (
  select order_id, jsonb_agg(tracking_codes -> 0 order by id) as codes
    from erp.shipping_label
    where state = 'created' and type = 'outgoing' and order_id is not null
    group by order_id
) t
where t.order_id = o.id and o.tracking_codes is not null;
-- Entered by hand
update erp.sales_order o
set tracking_codes = o.tracking_codes || jsonb_build_array('HAND-' || d.n),
  entered_tracking_codes = array['HAND-' || d.n]
from demo.sales_order d
where d.id = o.id and d.n % 31 = 0 and d.state = 'completed' and o.tracking_codes is not null;

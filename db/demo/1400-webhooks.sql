-- Webhook subscriptions
-- Names that end in .example belong to nobody and lead nowhere (RFC 2606)
insert into events.webhook_subscription (id, topic, url, api_version, fields, payload_query, enabled, health,
  health_reason, backlog_count,
  created_at, updated_at)
select demo.id('webhook', n), topic, 'https://hooks.shop.example/' || translate(topic, '.', '/'),
  case when n % 3 = 0 then 'unstable' else '2026-06-unstable' end,
  case n
    when 2 then array['state', 'trackingCodes']
    when 3 then array['state']
    when 9 then array['availableStock'] end,
    case when n = 4 then 'query ($id: ID!) { order(id: $id) { orderNumber amountTotal } }' end,
      health <> 'DISABLED', health,
  case health when 'DEGRADED' then 'The last 3 deliveries were answered with 503.'
    when 'SUSPENDED' then 'No delivery has succeeded for 24 hours.' when 'DISABLED'
      then 'The receiver responded with 410 Gone.' end,
  0, demo.opening() + n * interval '30 days',
    case when health <> 'HEALTHY' then demo.today() - interval '1 hour' end
from (
  select n, topic,
    case n when 3 then 'DEGRADED' when 7 then 'SUSPENDED' when 11 then 'DISABLED' else 'HEALTHY' end as health
  from unnest(array['order.created', 'order.updated', 'order.state_changed', 'order.created',
    'fulfillment_order.created', 'fulfillment.created',
    'stock.changed', 'stock_movement.created', 'product.updated',
    'goods_receipt.completed', 'supplier_order.sent', 'customer.created', 'document.created',
      'shipping_label.created']) with ordinality as v (topic, n)
) w;

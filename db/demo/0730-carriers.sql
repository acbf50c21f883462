-- Carriers, and labels that wait for them
insert into erp.carrier (id, technical_name, name, url, secret, is_active, tracking_url_pattern, created_at)
select demo.id('carrier', n), technical_name, name, 'https://' || technical_name || '.example.com/adapter',
  'demonstration of ' || technical_name, is_active, pattern, demo.opening()
from (values
  (1, 'dhl', 'DHL', true, 'https://tracking.example.com/{code}'),
  (2, 'colissimo', 'Colissimo', true, null),
  (3, 'royal_mail', 'Royal Mail', false, 'https://tracking.example.com/{code}')
) v (n, technical_name, name, is_active, pattern);

update erp.shipping_label set failure = 'The address of the recipient has no such postal code.'
where state = 'failed';
update erp.shipping_label set cancellation_requested_at = cancelled_at where state = 'cancelled';

-- Nobody is called: the carrier is switched off, and no job is queued
alter table erp.shipping_label_work disable trigger user;
insert into erp.shipping_label (id, state, type, carrier_technical_name, carrier_name, weight_in_grams,
  fulfillment_order_id, order_id, parcel_number, created_at)
select demo.id('requested label', row_number() over (order by f.n, p)), 'requested', 'outgoing', 'royal_mail',
  'Royal Mail', 400 * p, f.id, o.destination_order_id, p, f.at
from (
  select n, id, at from demo.fulfillment_order where state = 'Open' and not is_external
  order by n desc limit 8
) f
join erp.fulfillment_order o on o.id = f.id
cross join generate_series(1, 1 + f.n::integer % 2) p;
insert into erp.shipping_label (id, state, type, carrier_technical_name, carrier_name, weight_in_grams,
  fulfillment_order_id, order_id, parcel_number, failure, created_at)
select demo.id('refused label', row_number() over (order by f.n)), 'failed', 'outgoing', 'dhl', 'DHL', 40000,
  f.id, o.destination_order_id, 1, 'A parcel has at most 31.5 kg.', f.at
from (
  select n, id, at from demo.fulfillment_order where state = 'OnHold' and not is_external
  order by n desc limit 3
) f
join erp.fulfillment_order o on o.id = f.id;
update erp.shipping_label_work set due_at = demo.today();
alter table erp.shipping_label_work enable trigger user;

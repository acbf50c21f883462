-- Customers
create function demo.customers() returns integer language sql stable return 150 * demo.scale();

create table demo.customer as
select n, demo.id('customer', n) as id,
  1 + (array[0, 0, 0, 0, 1, 1, 1, 2, 2, 2])[1 + demo.pick(n, 'channel', 10)] as channel,
  demo.moment('customer', n, demo.customers() * 2) as created_at,
  demo.one_of(n, 'first name',
    array['Anna', 'Lukas', 'Camille', 'Hugo', 'Emily', 'Oliver', 'Sophie', 'Jonas', 'Chloé', 'Grace', 'Mia',
      'Leon',
    'Inès', 'Louis', 'Amelia', 'Harry', 'Lena', 'Finn', 'Manon', 'Jules']) as first_name,
  demo.one_of(n, 'last name',
    array['Becker', 'Schäfer', 'Moreau', 'Lefèvre', 'Taylor', 'Hughes', 'König', 'Girard', 'Walker', 'Brandt',
    'Fontaine', 'Vogel', 'Rousseau', 'Wright', 'Seidel', 'Marchand', 'Cooper', 'Lindner', 'Garnier',
      'Bennett']) as last_name
from generate_series(1, demo.customers()) n;
alter table demo.customer add primary key (n);
analyze demo.customer;

insert into erp.customer (id, customer_number, account_type, email, first_name, last_name, title, company,
  vat_ids, active, guest, storefront_id,
  group_id, requested_group_id,
  sales_channel_id, bound_sales_channel_id, default_payment_method_id, last_payment_method_id, salutation_id,
  invoice_form, buyer_reference, electronic_address, electronic_address_scheme, registration_id,
    created_at, updated_at)
select c.id, demo.number('C-', n), case when channel = 3 then 'Business' else 'Private' end,
  translate(lower(first_name || '.' || last_name), 'äöüéèßïë', 'aoueesie') || n || '@example.'
    || (array['com', 'org', 'net'])[1 + n % 3],
  first_name, last_name,
    case when demo.pick(n, 'title', 12) = 0 then demo.one_of(n, 'which title', array['Dr.', 'Prof. Dr.']) end,
  case
    when channel = 3
      then demo.one_of(n, 'company', array['Café', 'Berghütte', 'Outdoor', 'Refuge', 'Rösterei',
    'Kletterhalle']) || ' ' || last_name || case when n % 2 = 0 then ' GmbH' else '' end end,
  case
    when channel = 3 then case when n % 3 = 0 then '[]' else jsonb_build_array('FR' || 10000000000 + n) end
  end,
  n % 20 <> 9, channel < 3
    and n % 6 = 1, case when n % 3 <> 0 then 'gid://storefront/Customer/' || 5000000 + n end,
  demo.id(
    'customer_group', case
      when channel = 3 then 2 + demo.pick(n, 'group', 11)
      else 1 + case when n % 8 = 0 then 3 else 0 end end
  ),
  case when n % 13 = 2 then demo.id('customer_group', 1 + demo.pick(n, 'requested group', 12)) end,
  demo.id('sales_channel', channel), case when n % 4 = 0 then demo.id('sales_channel', channel) end,
  case when n % 5 > 0 then demo.id('payment_method', 1 + demo.pick(n, 'payment', 5)) end,
    case when n % 3 > 0 then demo.id('payment_method', 1 + demo.pick(n, 'last payment', 11)) end,
  case when n % 6 <> 3 then demo.id('salutation', 1 + demo.pick(n, 'salutation', 4)) end,
  case when channel < 3 then 'pdf' else (array['zugferd', 'zugferd', 'xrechnung', 'pdf'])[1 + n % 4] end,
  case when channel = 3 and n % 4 < 3 then 'COST-' || 4000 + n end,
  case when channel = 3 and n % 4 < 3 then 'invoices' || n || '@example.com' end,
  case when channel = 3 and n % 4 < 3 then 'EM' end,
  case when channel = 3 and n % 2 = 0 then (820000000 + n)::text end,
  created_at, case when n % 3 = 1 then created_at + demo.pick(n, 'updated', 300) * interval '1 day' end
from demo.customer c order by n;

insert into erp.customer_tag (customer_id, tag_id)
select c.id, demo.id('tag', t) from demo.customer c, generate_series(1, 24) t
where case when c.n = 1 then t <= 13 else demo.pick(c.n * 32 + t, 'customer tag', 30) = 0 end;

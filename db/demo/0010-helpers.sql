-- Preparing
-- What all files of this folder use. The schema demo is gone again when they have all run (see
-- 1900-finish.sql). Nothing here is random and nothing asks for the time: the same scale and age give the
-- same rows. Ids, figures and rates don't depend on the age, only moments do.
set local statement_timeout = 0;
set local timezone to 'UTC';
-- Sorting and joining at scale 100 would otherwise use the disk
set local work_mem to '128MB';
create schema demo;

create function demo.scale()
returns integer language sql stable return current_setting('demo.scale')::integer;
comment on function demo.scale() is 'How much data: 1 is a small shop.';

create function demo.age() returns interval language sql stable parallel safe
return make_interval(days => current_setting('demo.age')::integer);
comment on function demo.age() is 'How long after the first of June 2026 the shop stands still: whole days.';

create function demo.today() returns timestamptz language sql stable parallel safe
return timestamptz '2026-06-01 08:00:00+00' + demo.age();
comment on function demo.today() is 'The moment at which the shop stands still.';

create function demo.opening() returns timestamptz language sql stable parallel safe
return timestamptz '2024-06-01 08:00:00+00' + demo.age();
comment on function demo.opening() is 'When the shop took its first order.';

-- Version 7, as of real rows: the time part grows with n, so lists by id go from low to high n.
create function demo.id(kind text, n bigint) returns uuid language sql immutable parallel safe
return overlay(overlay(overlay(md5(kind || ' ' || n) placing lpad(to_hex(1717228800000 + n), 12, '0') from 1)
  placing '7' from 13) placing '8' from 17)::uuid;
comment on function demo.id(text, bigint) is 'Id of the nth row of a kind.';

create function demo.pick(n bigint, salt text, count bigint)
returns integer language sql immutable parallel safe
return ((hashtextextended(salt, n) & 9223372036854775807) % count)::integer;
comment on function demo.pick(bigint, text, bigint) is
  'A number from 0 to count - 1 that looks random but depends only on the arguments.';

create function demo.one_of(n bigint, salt text, choices text[])
returns text language sql immutable parallel safe
return choices[1 + demo.pick(n, salt, cardinality(choices))];

-- Increasing in n, evenly spread over the time the shop has been open.
create function demo.moment(kind text, n bigint, count bigint)
returns timestamptz language sql stable parallel safe
return date_trunc(
  'second', demo.opening()
    + (demo.today() - demo.opening()) * ((n - 1 + demo.pick(n, kind, 1000) / 1000.0) / count)
);
comment on function demo.moment(text, bigint, bigint) is 'When the nth of so many things of a kind happened.';

create function demo.texts(english text, german text, french text)
returns jsonb language sql immutable parallel safe
return jsonb_strip_nulls(jsonb_build_object('en-GB', english, 'de-DE', german, 'fr-FR', french));

create function demo.number(prefix text, n bigint) returns text language sql immutable parallel safe
return prefix || (10000 + n);
comment on function demo.number(text, bigint) is
  'Number of an order or document: its range starts after 10000.';

-- lpad would cut what is longer
create function demo.padded(n bigint, width integer) returns text language sql immutable parallel safe
return lpad(n::text, greatest(width, length(n::text)), '0');

create function demo.net(gross numeric, tax_rate numeric) returns numeric language sql immutable parallel safe
return round(gross * 100 / (100 + tax_rate), 2);

create function demo.iban(country text, account text) returns text language sql immutable parallel safe
return country
  || lpad(
    (98 - (account || ascii(country) - 55 || ascii(substr(country, 2)) - 55 || '00')::numeric % 97)::text, 2,
    '0'
  )
  || account;
comment on function demo.iban(text, text) is
  'An IBAN whose check digits are right, of an account number of digits only.';

create function demo.address(n bigint, country text) returns jsonb language sql stable parallel safe
return jsonb_build_object(
  'company', case
    when demo.pick(n, 'company', 5) = 0
      then demo.one_of(n, 'company name', array['Bergfreunde OHG', 'Café Zeitlos',
    'Atelier Dubois', 'Moorland Guides Ltd']) end,
  'department', case when demo.pick(n, 'company', 10) = 0 then 'Einkauf' end,
  'firstName', demo.one_of(
    n, 'first',
    array['Anna', 'Lukas', 'Camille', 'Hugo', 'Emily', 'Oliver', 'Sophie', 'Jonas', 'Chloé', 'Grace']
  ),
  'lastName', demo.one_of(
    n, 'last',
    array['Becker', 'Schäfer', 'Moreau', 'Lefèvre', 'Taylor', 'Hughes', 'König', 'Girard', 'Walker', 'Brandt']
  ),
  'street', demo.one_of(n, 'street',
    array['Lindenstraße', 'Hafenweg', 'Rue des Tilleuls', 'High Street', 'Am Mühlbach', 'Quai du Rhône',
    'Station Road']) || ' ' || 1 + demo.pick(n, 'house', 140),
  'additionalAddressLine1', case when demo.pick(n, 'floor', 6) = 0 then '2. Stock' end,
  'additionalAddressLine2', null,
  'zipcode', lpad((10000 + demo.pick(n, 'zip', 80000))::text, 5, '0'),
  'city', demo.one_of(
    n, 'city',
    array['Hamburg', 'Bremen', 'Lyon', 'Annecy', 'Leeds', 'Bern', 'Salzburg', 'München', 'Grenoble']
  ),
  'countryName', country,
  'countryIso', case country
    when 'Switzerland' then 'CH'
    when 'United Kingdom' then 'GB'
    when 'France' then 'FR'
    else 'DE' end,
  'countryStateName', null,
  'countryStateShortCode', null,
  'phoneNumber', case
    when demo.pick(n, 'phone', 3) = 0 then '+49 40 5550' || demo.pick(n, 'extension', 900) + 100 end
);
comment on function demo.address(bigint, text) is
  'A postal address with the keys of FulfillmentOrder.shippingAddress.';

-- Derived figures are computed below, all at once; updated_at must not contain the time of this run; and old
-- changes cause no events. Ids are made here, so that the same scale always gives the same.
create function demo.switch_triggers(state text) returns void language plpgsql as $$
declare item record;
begin
  for item in select tgrelid::regclass as relation, tgname as name from pg_trigger
    where tgname = 'touch_updated_at' or tgname like 'keep\_figures%'
      or tgname in (
        'announce_insert', 'announce_update', 'announce_delete', 'stock_movement_names_its_places'
      ) loop
    execute format('alter table %s %s trigger %I', item.relation, state, item.name);
  end loop;
end
$$;
select demo.switch_triggers('disable');

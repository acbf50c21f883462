-- Products have images, and texts in other languages
drop view if exists api_unstable.product_images;
drop view if exists api_unstable.products;
drop table if exists erp.product_image;
alter table erp.product drop column if exists translations cascade;

--!include erp/is_locale.sql
--!include erp/is_web_address.sql
--!include erp/are_translations.sql

alter table erp.product add column translations jsonb not null default '{}';
alter table erp.product add constraint product_translations_are_texts
  check (erp.are_translations(translations)) not enforced;
comment on column erp.product.translations is
  'Name and description in other languages: an object from locale to an object of texts.';
comment on constraint product_translations_are_texts on erp.product is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product', 'update (translations)');

create table erp.product_image (
  product_id uuid not null references erp.product on delete cascade,
  position integer not null constraint product_image_position_is_counted_from_1 check (position > 0),
  url text collate "C" not null constraint product_image_url_is_a_web_address check (erp.is_web_address(url)),
  alt_text text,
  translations jsonb not null default '{}'
    constraint product_image_translations_are_texts check (erp.are_translations(translations)),
  primary key (product_id, position),
  -- Looked at when a statement ends, because images change their places
  constraint product_image_is_unique unique (url, product_id) deferrable
);
alter table erp.product_image enable row level security;
comment on table erp.product_image is 'Addresses of images of products, in their order.';
comment on column erp.product_image.product_id is 'Product that the image shows.';
comment on column erp.product_image.position is
  'Place of the image among those of the product, counted from 1.';
comment on column erp.product_image.url is
  'Address of the image, which begins with https:// or http://. It is kept, and not fetched.';
comment on column erp.product_image.alt_text is 'What the image shows, for those who can''t see it.';
comment on column erp.product_image.translations is
  'The alternative text in other languages: an object from locale to an object of texts.';
comment on constraint product_image_position_is_counted_from_1 on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_url_is_a_web_address on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_translations_are_texts on erp.product_image is
  '@internal The functions that write here see to it.';
comment on constraint product_image_is_unique on erp.product_image is
  '@internal The functions that write here see to it.';
select api_meta.allow('service_writer', 'erp.product_image', 'select', 'insert', 'delete',
  'update (url, alt_text, translations)');

--!include erp/with_translations.sql
--!include erp/set_images.sql
--!include erp/upsert_products.sql
--!include api/product_translation.sql
--!include api/products.sql
--!include api/product_images.sql
--!include api/products_upsert.sql

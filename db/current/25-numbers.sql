-- Numbers of documents by range, year and sales channel, and their proof

drop view if exists ledger.proof, erp.number_proof;
drop table if exists erp.number_range_year, erp.channel_number_range, erp.number_gap;

-- The next migration validates the rule: alter table erp.number_range
--   validate constraint number_range_by_year_has_no_sequence,
--   validate constraint number_range_of_customers_has_no_year,
--   validate constraint number_range_pattern_has_each_part_once;
alter table erp.number_range
  drop constraint if exists number_range_by_year_has_no_sequence,
  drop constraint if exists number_range_of_customers_has_no_year,
  drop constraint if exists number_range_pattern_has_each_part_once;
alter table erp.number_range
  add constraint number_range_by_year_has_no_sequence
    check (sequence is null or strpos(pattern, '{year}') = 0) not valid,
  -- An upsert numbers many customers at once
  add constraint number_range_of_customers_has_no_year
    check (technical_name <> 'customer' or strpos(pattern, '{year}') = 0) not valid,
  add constraint number_range_pattern_has_each_part_once
    check (regexp_count(pattern, '\{n\}') = 1 and regexp_count(pattern, '\{year\}') <= 1) not valid;
comment on constraint number_range_by_year_has_no_sequence on erp.number_range is
  '@internal Only people who write SQL change patterns and sequences.';
comment on constraint number_range_of_customers_has_no_year on erp.number_range is
  '@internal Only people who write SQL change patterns.';
comment on constraint number_range_pattern_has_each_part_once on erp.number_range is
  '@internal Only people who write SQL change patterns.';
comment on table erp.number_range is 'Number ranges of documents and orders, which count numbers.';
comment on column erp.number_range.pattern is
  'Pattern of the numbers, with {n} for the counter. With {year} for the year, in the merchant''s time zone, '
  'counting begins with 1 each year.';
comment on column erp.number_range.last_number is
  'Last number that was used; unused if a sequence counts, or if the pattern contains {year} '
  '(erp.number_range_year).';

create table erp.number_range_year (
  number_range text not null references erp.number_range on delete cascade on update cascade,
  year integer not null constraint number_range_year_has_four_digits check (year between 1000 and 9999),
  last_number bigint not null
    constraint number_range_year_last_number_is_not_negative check (last_number >= 0),
  primary key (number_range, year)
);
alter table erp.number_range_year enable row level security;
comment on table erp.number_range_year is 'Counters of number ranges whose pattern contains {year}.';
comment on column erp.number_range_year.year is 'Year in the merchant''s time zone, as in the numbers.';
comment on column erp.number_range_year.last_number is 'Last number that was used in the year.';
comment on constraint number_range_year_has_four_digits on erp.number_range_year is
  '@internal next_number() takes the present year';
comment on constraint number_range_year_last_number_is_not_negative on erp.number_range_year is
  '@internal next_number() counts up';
comment on constraint number_range_year_number_range_fkey on erp.number_range_year is
  '@internal next_number() locks the range';
select api_meta.allow('service_writer', 'erp.number_range_year', 'select', 'insert', 'update (last_number)');

create table erp.channel_number_range (
  document_type_id uuid not null references erp.document_type on delete cascade,
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  number_range text not null references erp.number_range on delete restrict on update cascade,
  primary key (document_type_id, sales_channel_id)
);
create index on erp.channel_number_range (sales_channel_id);
create index on erp.channel_number_range (number_range);
alter table erp.channel_number_range enable row level security;
comment on table erp.channel_number_range is
  'Number ranges of documents by sales channel. Other documents take the range of their type.';
comment on column erp.channel_number_range.document_type_id is 'Type of the documents.';
comment on column erp.channel_number_range.sales_channel_id is 'Sales channel of their orders.';
comment on column erp.channel_number_range.number_range is
  'The range. No number may fit its pattern and another one of the same document type.';
select api_meta.allow('service_writer', 'erp.channel_number_range', 'select');

create table erp.number_gap (
  id uuid primary key default uuidv7(),
  number_range text not null references erp.number_range on delete cascade on update cascade,
  year integer,
  first_number bigint not null,
  last_number bigint not null,
  reason text not null constraint number_gap_has_a_reason check (not erp.is_blank(reason)),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint number_gap_ends_after_its_beginning check (last_number >= first_number)
);
create index on erp.number_gap (number_range);
alter table erp.number_gap enable row level security;
comment on table erp.number_gap is
  'Missing numbers of documents that somebody explained. erp.number_proof leaves them out.';
comment on column erp.number_gap.year is 'Year in the numbers; null if the range has none.';
comment on column erp.number_gap.first_number is 'First counter that has no document.';
comment on column erp.number_gap.last_number is 'Last counter that has no document.';
comment on column erp.number_gap.reason is
  'Why there are no documents, for example because another system made them.';

--!include erp/fill_pattern.sql
--!include erp/next_number.sql
--!include erp/range_of_documents.sql
--!include erp/lock_number_ranges.sql
--!include erp/number_proof.sql
--!include ledger/proof.sql

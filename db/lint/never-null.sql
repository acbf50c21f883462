-- Columns of views that are never null for clients (@notNull, or a key), and may be null: the column of the
-- table may, an outer join may leave it empty, or the expression can end in null. One such row fails the
-- whole page that shows it.
-- Remedy: make the column of the table not null, or give coalesce in the view; else take @notNull out of
-- the comment of OBJECT, or name the column in @nullable of the view.
select format('%I.%I.%I', s.name, o.name, o.column_name) as object,
  coalesce((
    select format('%s.%s', o.relation, a.attname) from pg_attribute a
    where a.attrelid = o.relation and a.attnum = o.attnum
  ), 'an expression') as fault
from api_meta.own_schema s cross join lateral api_meta.view_origins(s.name) o
where s.is_api and o.is_promised and not coalesce(o.is_never_null,
  -- array(…), concat and concat_ws, and coalesce with a value at its end
  o.expression ~ ('^\{SUBLINK :subLinkType 6 |^\{FUNCEXPR :funcid 305[89] '
    '|^\{COALESCEEXPR .*\{CONST [^{}]*:constisnull false[^{}]*\}\) :location')
  -- What reads only columns that are never null, by no function of ours and nothing that makes null of values
  or o.expression !~ ('SUBLINK|NULLIFEXPR|CASEEXPR|AGGREF|WINDOWFUNC|SUBSCRIPTINGREF|FIELDSELECT'
    '|:constisnull true|:varnullingrels \(b [0-9]|:varlevelsup [1-9]|:(op)?funcid \d{5}')
  and not exists (
    select from pg_depend d join pg_rewrite w on w.oid = d.objid and d.classid = 'pg_rewrite'::regclass
    join api_meta.table_column t on t.relation = d.refobjid and t.attnum = d.refobjsubid
    where w.ev_class = o.view and not t.is_never_null and o.expression ~ format(':varattno %s ', t.attnum)
  ));

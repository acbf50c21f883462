select api_meta.derive();
select api_meta.freeze('api_unstable', 'api_2026_06_unstable');
select api_meta.derive();

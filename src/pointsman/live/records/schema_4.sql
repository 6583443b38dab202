-- From version 3 of the schema to 4: when attempts really began and ended, in the store's own time.

ALTER TABLE attempts RENAME COLUMN began_unix_ms TO real_start_ms;
ALTER TABLE attempts RENAME COLUMN ended_unix_ms TO real_end_ms;
UPDATE attempts SET (real_start_ms, real_end_ms) = (
  SELECT real_start_ms - origin_ms, real_end_ms - origin_ms FROM (
    SELECT json_extract(value, '$.unix_ms') - json_extract(value, '$.at_ms') AS origin_ms FROM meta WHERE key = 'clock'
  )
);

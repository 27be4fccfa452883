import type { DdlVariants } from '../driver/dialect.ts';

// Texts of released migrations: never change one; add a new one. A database that has run the migration keeps the old text.

const RECENT_SENDS: readonly string[] = [
  'CREATE INDEX messages_of_number ON messages (project_id, phone_number, created_at)',
  'CREATE VIEW recent_sends AS SELECT project_id, phone_number, created_at FROM messages',
];

const SINGLE_SENDS: readonly string[] = [
  `CREATE OR REPLACE VIEW recent_sends AS
     SELECT project_id, phone_number, created_at FROM messages WHERE campaign_id IS NULL`,
];

const VERSIONS_OF_TREES: readonly string[] = [
  `CREATE FUNCTION version_whatsapp_tree() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO whatsapp_versions (project_id, version) VALUES (NEW.project_id, gen_random_uuid())
     ON CONFLICT (project_id) DO UPDATE SET version = excluded.version;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER whatsapp_written AFTER INSERT OR UPDATE ON whatsapp_resources
   FOR EACH ROW EXECUTE FUNCTION version_whatsapp_tree()`,
  'INSERT INTO whatsapp_versions SELECT project_id, gen_random_uuid() FROM whatsapp_resources',
];

/** A template may have characters that no text of PostgreSQL holds: their escapes are left out, and a backslash's own is kept. */
const READABLE_TREE = String.raw`regexp_replace(document, '(\\\\)|\\u(0000|d[89a-f][0-9a-f]{2})', '\1', 'g')::json`;

const NUMBERS_IN_TREES = `
  INSERT INTO whatsapp_numbers (project_id, platform_id, is_deleted, phone_id)
  SELECT project_id, number ->> 'phoneNumberId',
    CASE WHEN number ->> 'status' = 'DELETED' THEN 1 ELSE 0 END, number ->> 'id'
  FROM whatsapp_resources, json_array_elements(${READABLE_TREE}) business,
    json_array_elements(business -> 'whatsappAccounts') account, json_array_elements(account -> 'phoneNumbers') number`;

const NUMBERS_OF_TREES: readonly string[] = [
  `CREATE FUNCTION number_whatsapp_tree() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     DELETE FROM whatsapp_numbers WHERE project_id = NEW.project_id;
     ${NUMBERS_IN_TREES} WHERE project_id = NEW.project_id ON CONFLICT DO NOTHING;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER whatsapp_numbered AFTER INSERT OR UPDATE ON whatsapp_resources
   FOR EACH ROW EXECUTE FUNCTION number_whatsapp_tree()`,
  `${NUMBERS_IN_TREES} ON CONFLICT DO NOTHING`,
];

export const POSTGRES_DDL: DdlVariants = {
  key: 'text COLLATE "C"',
  clustered: '',
  recentSends: RECENT_SENDS,
  singleSends: SINGLE_SENDS,
  messagesByNumber: [],
  versionsOfTrees: VERSIONS_OF_TREES,
  numbersOfTrees: NUMBERS_OF_TREES,
  needsTableLocks: true,
  fillPages: (table, percent) => [`ALTER TABLE ${table} SET (fillfactor = ${percent})`],
};

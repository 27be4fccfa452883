import type { DdlVariants } from '../driver/dialect.ts';

// Texts of released migrations: never change one; add a new one. A database that has run the migration keeps the old text.

/** The block that a message belongs to; null while its block is open. */
const blockOf = (smsId: string) =>
  `(SELECT block FROM number_blocks WHERE last_sms_id >= ${smsId} ORDER BY last_sms_id LIMIT 1)`;

/**
 * The tables of migration 028. The triggers keep the closed blocks true: an index on messages would touch a page of its own for
 * every message, and a block is written once, in order. What was stored before becomes one block.
 */
const NUMBER_BLOCKS: readonly string[] = [
  `CREATE TABLE number_blocks (
     last_sms_id text PRIMARY KEY,
     block bigint NOT NULL
   ) WITHOUT ROWID`,
  `CREATE TABLE messages_by_number (
     block bigint NOT NULL,
     phone_number text NOT NULL,
     sms_id text NOT NULL,
     PRIMARY KEY (block, phone_number, sms_id)
   ) WITHOUT ROWID`,
  'INSERT INTO number_blocks SELECT MAX(sms_id), 1 FROM messages HAVING MAX(sms_id) IS NOT NULL',
  `INSERT INTO messages_by_number
   SELECT 1, phone_number, sms_id FROM messages ORDER BY phone_number, sms_id`,
  `CREATE TRIGGER message_inserted AFTER INSERT ON messages
   WHEN NEW.sms_id <= (SELECT MAX(last_sms_id) FROM number_blocks) BEGIN
     INSERT INTO messages_by_number VALUES (${blockOf('NEW.sms_id')}, NEW.phone_number, NEW.sms_id);
   END`,
  `CREATE TRIGGER message_number_changed AFTER UPDATE OF phone_number ON messages BEGIN
     UPDATE messages_by_number SET phone_number = NEW.phone_number
     WHERE block = ${blockOf('OLD.sms_id')} AND phone_number = OLD.phone_number AND sms_id = OLD.sms_id;
   END`,
  `CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
     DELETE FROM messages_by_number
     WHERE block = ${blockOf('OLD.sms_id')} AND phone_number = OLD.phone_number AND sms_id = OLD.sms_id;
   END`,
];

const VERSION_TREE = `
  INSERT INTO whatsapp_versions (project_id, version) VALUES (NEW.project_id, hex(randomblob(16)))
  ON CONFLICT (project_id) DO UPDATE SET version = excluded.version;`;

const VERSIONS_OF_TREES: readonly string[] = [
  `CREATE TRIGGER whatsapp_inserted AFTER INSERT ON whatsapp_resources BEGIN ${VERSION_TREE} END`,
  `CREATE TRIGGER whatsapp_updated AFTER UPDATE ON whatsapp_resources BEGIN ${VERSION_TREE} END`,
  'INSERT INTO whatsapp_versions SELECT project_id, hex(randomblob(16)) FROM whatsapp_resources',
];

const NUMBERS_IN_TREES = `
  INSERT INTO whatsapp_numbers (project_id, platform_id, is_deleted, phone_id)
  SELECT project_id, number.value ->> 'phoneNumberId',
    CASE WHEN number.value ->> 'status' = 'DELETED' THEN 1 ELSE 0 END, number.value ->> 'id'
  FROM whatsapp_resources, json_each(document) business,
    json_each(business.value, '$.whatsappAccounts') account, json_each(account.value, '$.phoneNumbers') number`;

const NUMBER_TREE = `
  DELETE FROM whatsapp_numbers WHERE project_id = NEW.project_id;
  ${NUMBERS_IN_TREES} WHERE project_id = NEW.project_id ON CONFLICT DO NOTHING;`;

const NUMBERS_OF_TREES: readonly string[] = [
  `CREATE TRIGGER whatsapp_numbered_first AFTER INSERT ON whatsapp_resources BEGIN ${NUMBER_TREE} END`,
  `CREATE TRIGGER whatsapp_numbered_again AFTER UPDATE ON whatsapp_resources BEGIN ${NUMBER_TREE} END`,
  `${NUMBERS_IN_TREES} WHERE true ON CONFLICT DO NOTHING`,
];

export const SQLITE_DDL: DdlVariants = {
  key: 'text',
  clustered: 'WITHOUT ROWID',
  recentSends: [],
  singleSends: [],
  messagesByNumber: NUMBER_BLOCKS,
  versionsOfTrees: VERSIONS_OF_TREES,
  numbersOfTrees: NUMBERS_OF_TREES,
  needsTableLocks: false,
  fillPages: () => [],
};

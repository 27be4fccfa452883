import type { Knex } from 'knex';

/** A row of `international_prices` as its document has it. */
interface Price {
  readonly continent: string;
  readonly countryIso: string;
  readonly countryCode: string;
  readonly country: string;
  readonly networkId: string;
  readonly network: string;
  readonly mccMnc: string;
  readonly price: number;
}

/**
 * Makes the list of a seed file a price version, unless a version is in force. Versions before this one read `price_lists` and
 * `international_prices` still, so both stay as they are.
 */
export async function up(knex: Knex): Promise<void> {
  // The lock of the schedule: an import of the version before is waited for, and the next one sees this version.
  await knex('price_schedule').where({ id: 1 }).increment('revision', 1);
  const now = Date.now();
  const inForce = await knex('price_versions')
    .whereNull('withdrawn_at')
    .where('effective_from', '<=', now)
    .first('id');
  const list = await knex('price_lists').where({ id: 1 }).first('document');
  if (inForce !== undefined || list === undefined) return;
  const stored = await knex('international_prices')
    .select('document')
    .orderBy(['country_iso', 'mcc_mnc', 'network', 'position']);
  const rows = stored.map(({ document }) => JSON.parse(document) as Price);
  const { sms, whatsapp, telegram } = JSON.parse(list.document);
  const id = `${now.toString(16).padStart(12, '0')}${'0'.repeat(12)}`;
  await knex('price_versions').insert({
    id,
    effective_from: 0,
    created_at: now,
    actor: 'seed',
    row_count: rows.length,
    document: JSON.stringify({ sms, whatsapp, telegram, byCountryCode: highestByCountryCode(rows) }),
  });
  let rowsBefore = 0;
  for (const [countryIso, ofCountry] of byCountry(rows)) {
    await knex('price_version_countries').insert({
      version_id: id,
      country_iso: countryIso,
      rows_before: rowsBefore,
      row_count: ofCountry.length,
      document: JSON.stringify(ofCountry.map(withoutNames)),
    });
    rowsBefore += ofCountry.length;
  }
}

function highestByCountryCode(rows: readonly Price[]): readonly (readonly [string, number])[] {
  const highest = new Map<string, number>();
  for (const { countryCode, price } of rows) {
    highest.set(countryCode, Math.max(highest.get(countryCode) ?? 0, price));
  }
  return [...highest];
}

/** In the order of the rows. */
function byCountry(rows: readonly Price[]): ReadonlyMap<string, readonly Price[]> {
  const groups = new Map<string, Price[]>();
  for (const row of rows) {
    const group = groups.get(row.countryIso) ?? [];
    group.push(row);
    groups.set(row.countryIso, group);
  }
  return groups;
}

function withoutNames({ continent, countryCode, country, networkId, network, mccMnc, price }: Price) {
  return [continent, countryCode, country, networkId, network, mccMnc, price];
}

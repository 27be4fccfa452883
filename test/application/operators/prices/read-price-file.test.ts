import { describe, expect, it, test } from 'vitest';
import { csvDecoder } from '../../../../src/adapters/csv/csv-decoder.ts';
import {
  type PriceFormat,
  readPriceFile,
} from '../../../../src/application/operators/prices/read-price-file.ts';
import type { InternationalPrice } from '../../../../src/domain/billing/pricing.ts';
import { iqd, toIqd } from '../../../../src/domain/shared/money.ts';
import { anInternationalPrice as row } from '../../../support/builders.ts';

const HEADER = 'continent,countryIso,countryCode,country,networkId,network,mccMnc,price';
const TURKEY = 'Asia,TR,90,Turkey,tr_all,All networks,28601,120';
const JORDAN = 'Asia,JO,962,Jordan,jo_zain,"Zain, Jordan",41601,55.125';
const ZAIN = row({
  countryIso: 'JO',
  countryCode: '962',
  country: 'Jordan',
  networkId: 'jo_zain',
  network: 'Zain, Jordan',
  mccMnc: '41601',
  price: iqd(55.125),
});

const read = (format: PriceFormat, text: string) => readPriceFile(format, Buffer.from(text), csvDecoder);
const csv = (...lines: readonly string[]) => read('csv', lines.join('\n'));
const jsonRows = (rows: readonly InternationalPrice[]) =>
  rows.map((each) => ({ ...each, price: toIqd(each.price) }));
const json = (rows: readonly unknown[], more: object = {}) =>
  read('json', JSON.stringify({ ...more, international: rows }));
const csvRow = (n: number, countryIso = 'TR') => `Asia,${countryIso},90,Turkey,n${n},All networks,28601,120`;

type Mistake = readonly [line: number | null, field: string | null, problem: string];
const rejectedWith = (...mistakes: readonly Mistake[]) => ({
  rejection: {
    kind: 'invalid-prices',
    mistakes: mistakes.map(([line, field, problem]) => ({ line, field, problem })),
  },
});

describe('a file of prices', () => {
  test.each([
    ['with line feeds', [HEADER, TURKEY, JORDAN].join('\n')],
    ['with both line ends and a byte order mark', `\uFEFF${[HEADER, TURKEY, JORDAN].join('\r\n')}\r\n`],
    [
      'with columns in another order',
      'price,countryIso,continent,countryCode,country,networkId,network,mccMnc\n120,TR,Asia,90,Turkey,tr_all,All networks,28601\n55.125,JO,Asia,962,Jordan,jo_zain,"Zain, Jordan",41601',
    ],
  ])('csv has rows only, by country, in the order of countries: %s', async (_, text) => {
    const { system, international } = await read('csv', text);
    expect(system).toEqual({});
    expect([...(international ?? [])]).toEqual([
      ['JO', [ZAIN]],
      ['TR', [row()]],
    ]);
  });

  it('JSON has rows, system prices, or both', async () => {
    const { system, international } = await json(jsonRows([row(), ZAIN]), { telegram: 41 });
    expect(system).toEqual({ telegram: iqd(41) });
    expect([...(international ?? [])]).toEqual([
      ['JO', [ZAIN]],
      ['TR', [row()]],
    ]);
    expect(await read('json', '\uFEFF{"telegram":41}')).toEqual({
      system: { telegram: iqd(41) },
      international: null,
    });
    expect(await json([])).toEqual({ system: {}, international: new Map() });
  });

  it('the rows of a country are in the order of MCC-MNC and network', async () => {
    const rows = [
      row({ mccMnc: '2' }),
      row({ mccMnc: '1', networkId: 'b', network: 'B' }),
      row({ mccMnc: '1', network: 'A' }),
    ];
    const { international } = await json(jsonRows(rows));
    expect(international?.get('TR')).toEqual([rows[2], rows[1], rows[0]]);
  });
});

describe('a file of prices with mistakes', () => {
  it('each mistake has its line and field', async () => {
    await expect(csv(HEADER, TURKEY.replace('TR', 'tr'), `${JORDAN},x`, csvRow(1))).rejects.toMatchObject(
      rejectedWith(
        [2, 'countryIso', 'must be two upper-case letters'],
        [3, null, 'has 9 cells, and the first line has 8'],
      ),
    );
    await expect(read('json', '{"x":1,"international":[\n{},\n7]}')).rejects.toMatchObject(
      rejectedWith(
        ...HEADER.split(',').map((name): Mistake => [2, name, 'is required']),
        [3, null, 'must be an object'],
        [null, 'x', 'is not a field of a price list'],
      ),
    );
    await expect(read('json', '{"international":[\n{"a":}]}')).rejects.toMatchObject(
      rejectedWith([2, null, 'is no JSON object of a row']),
    );
  });

  test.each<[what: string, header: string, ...mistakes: Mistake[]]>([
    [
      'that it lacks',
      HEADER.replace('price', 'cost'),
      [1, 'price', 'the header lacks the column'],
      [1, 'cost', 'is not a column of the price list'],
    ],
    ['that stands twice', `${HEADER},price`, [1, 'price', 'the header has the column twice']],
    [
      'with a long name',
      `${HEADER},${'x'.repeat(65)}`,
      [1, 'x'.repeat(64), 'is not a column of the price list'],
    ],
  ])('a header with a column %s is rejected, and no row is read', async (_, header, ...mistakes) => {
    await expect(csv(header, 'x')).rejects.toMatchObject(rejectedWith(...mistakes));
  });

  test.each<[what: string, text: string, mistake: Mistake]>([
    ['nothing', '', [1, null, 'the file has no header']],
    ['a header only', HEADER, [null, null, 'the file has no rows']],
  ])('csv with %s is rejected', async (_, text, mistake) => {
    await expect(read('csv', text)).rejects.toMatchObject(rejectedWith(mistake));
  });

  it('csv with an open quote has this one mistake, although its lines were not read', async () => {
    await expect(csv(HEADER, TURKEY, '"Asia')).rejects.toMatchObject(
      rejectedWith([3, null, 'a quoted cell has no end']),
    );
  });

  test.each([
    ['the list twice', '{"telegram":1,"international":[],"international":[]}'],
    ['its name in another spelling', '{"telegram":1,"interna\\u0074ional":[1]}'],
  ])('JSON with %s is rejected: a list that is not read would change prices unseen', async (_, text) => {
    await expect(read('json', text)).rejects.toMatchObject(
      rejectedWith([null, 'international', 'must be there once, written as "international": […]']),
    );
  });

  it('a network that a country has twice with one code and MCC-MNC is a mistake', async () => {
    const twice = 'the country has this network twice with one code and MCC-MNC';
    await expect(csv(HEADER, TURKEY, JORDAN, TURKEY.replace('120', '1'))).rejects.toMatchObject(
      rejectedWith([4, 'networkId', twice]),
    );
    expect(
      (await csv(HEADER, TURKEY, TURKEY.replace('28601', '28602'))).international?.get('TR'),
    ).toHaveLength(2);
  });

  it('a country has at most 5,000 rows, and the first row beyond is the mistake', async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => csvRow(n));
    expect((await csv(HEADER, ...rows, csvRow(0, 'CY'))).international?.get('TR')).toHaveLength(5_000);
    await expect(csv(HEADER, ...rows, csvRow(5_000), csvRow(5_001))).rejects.toMatchObject(
      rejectedWith([5_002, 'countryIso', 'has more than 5000 rows']),
    );
  });

  test.each<PriceFormat>(['csv', 'json'])(
    'the first 100 mistakes of %s are told, and no more',
    async (format) => {
      const wrong = Array.from({ length: 150 }, () => 'x');
      const text =
        format === 'csv' ? [HEADER, ...wrong].join('\n') : `{"international":[${wrong.join(',\n')}]}`;
      const { rejection } = await read(format, text).then(
        () => ({ rejection: null }),
        (error) => error,
      );
      expect(rejection.mistakes).toHaveLength(100);
      const first = format === 'csv' ? 2 : 1;
      expect(rejection.mistakes.map(({ line }: { line: number }) => line)).toEqual(
        Array.from({ length: 100 }, (_, n) => n + first),
      );
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SUBMIT_TIMEOUT_MS } from '../../../src/domain/providers/submit-result.ts';
import {
  brokenPromises,
  type ProviderUnderTest,
  withCallback,
} from '../../contracts/channel-provider.contract.ts';
import { anSmsId, aPhoneNumber, aSubmission } from '../../support/builders.ts';
import { exampleOf, gatewayOf, JSON_HEADING, QUERY_HEADING, type RawSettings } from './gateway-example.ts';
import { type Dialect, JSON_DIALECT, QUERY_DIALECT, StandInGateway } from './stand-in-gateway.ts';

const TWO_PARTS = 'x'.repeat(200);

const DIALECTS: readonly [name: string, heading: string, dialect: Dialect][] = [
  ['JSON', JSON_HEADING, JSON_DIALECT],
  ['a query and plain text', QUERY_HEADING, QUERY_DIALECT],
];

describe.each(DIALECTS)('the contract of channel providers, over %s', (_, heading, dialect) => {
  let gateway: StandInGateway;
  let settings: RawSettings;

  beforeAll(async () => {
    gateway = await StandInGateway.open(dialect);
    settings = exampleOf(heading, gateway.origin);
  });
  afterAll(() => gateway.close());

  function open(): ProviderUnderTest {
    const { provider, callback } = gatewayOf(settings);
    gateway.receipts.splice(0);
    const before = gateway.carried.length;
    if (callback === null) throw new Error('The example has receipts');
    const { provider: started, bring } = withCallback(provider, callback);
    const rows = [
      ['0001', 'accepted', 'Hello'],
      ['0006', 'rejected', 'Hello'],
      ['0011', 'unknown', 'Hello'],
      ['0002', 'accepted', TWO_PARTS],
    ] as const;
    return {
      provider: started,
      submissions: rows.map(([digits, kind, text], index) => ({
        submission: aSubmission({
          smsId: anSmsId(index),
          phoneNumber: aPhoneNumber(`964771234${digits}`),
          text,
        }),
        kind,
      })),
      carried: () => gateway.carried.slice(before).map(({ reference }) => reference),
      async letEventsCome() {
        for (const request of gateway.receipts.splice(0)) {
          if (!(await bring(request))) gateway.receipts.push(request);
        }
      },
      promptMs: SUBMIT_TIMEOUT_MS,
    };
  }

  it('the HTTP gateway keeps the contract of channel providers', async () => {
    expect(await brokenPromises(open)).toEqual([]);
  });

  it('the contract finds an HTTP gateway whose receipts are under other ids', async () => {
    const planted = (): ProviderUnderTest => {
      const sound = open();
      const { provider } = sound;
      return {
        ...sound,
        provider: {
          ...provider,
          submit: async (submission) => {
            const result = await provider.submit(submission);
            return result.kind === 'accepted'
              ? { ...result, providerMessageIds: result.providerMessageIds.map((id) => `other-${id}`) }
              : result;
          },
        },
      };
    };
    expect(await brokenPromises(planted)).toContain('a receipt is under an id of a submit result');
  });
});

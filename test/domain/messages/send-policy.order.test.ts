import { describe, expect, it, test } from 'vitest';
import type { SendState } from '../../../src/domain/messages/send-policy.ts';
import type { SendRequest } from '../../../src/domain/messages/send-request.ts';
import { decideSendWithTestNumbers } from '../../../src/domain/sandbox/sandbox-send.ts';
import { ZERO } from '../../../src/domain/shared/money.ts';
import {
  anAccount,
  aPhoneNumber,
  aSenderId,
  aSendRequest,
  aSendState,
  aTemplateContent,
  aTestNumber,
  aText,
  aWhatsappAccount,
  NOW,
} from '../../support/builders.ts';

const GERMAN = aPhoneNumber('4915112345678');

/** Something that makes a send be rejected, in the order in which the checks are made. */
const FAULTS: readonly {
  readonly kind: string;
  readonly state?: Partial<Omit<SendState, 'account'>>;
  readonly account?: Partial<SendState['account']>;
  readonly request?: Partial<SendRequest>;
}[] = [
  { kind: 'test-number', request: { phoneNumber: aTestNumber('0001') } },
  {
    kind: 'whatsapp-account-not-found',
    state: { whatsappBusinesses: [] },
    request: aTemplateSender('nobody'),
  },
  { kind: 'unsupported-content', request: { content: aTemplateContent(), ...aTemplateSender() } },
  { kind: 'unsupported-destination', request: { phoneNumber: GERMAN } },
  { kind: 'sender-id-not-found', state: { senderId: undefined }, request: { senderId: 'Barid' } },
  {
    kind: 'sender-id-not-accepted',
    state: { senderId: aSenderId({ status: 'pending' }) },
    request: { senderId: 'Barid' },
  },
  { kind: 'trial-mode', account: { trialPhoneNumber: aPhoneNumber('9647700000009') } },
  { kind: 'rate-limited', state: { acceptedAt: [NOW, NOW, NOW, NOW, NOW] } },
  { kind: 'spending-threshold', account: { spendingThreshold: ZERO } },
  { kind: 'insufficient-credit', account: { balance: ZERO } },
];

function aTemplateSender(accountId = aWhatsappAccount().id): Partial<SendRequest> {
  return { whatsappSender: { accountId, phoneId: null, templateName: 'order_update' } };
}

/** The decision about a text over sms that has all the faults. */
function decisionOn(faults: typeof FAULTS) {
  let state = aSendState();
  let account = anAccount();
  let request: SendRequest = aSendRequest({ provider: 'sms', content: aText() });
  // Where two faults set the same thing, the earlier check keeps its own.
  for (const fault of [...faults].reverse()) {
    state = { ...state, ...fault.state };
    account = { ...account, ...fault.account };
    request = { ...request, ...fault.request };
  }
  return decideSendWithTestNumbers({ ...state, account }, request, NOW);
}

describe('the order of the checks', () => {
  it('a send without a fault is accepted', () => {
    expect(decisionOn([]).kind).toBe('accepted');
  });

  test.each(FAULTS)('a send with one fault is rejected for it: $kind', (fault) => {
    expect(decisionOn([fault]).kind).toBe(fault.kind);
  });

  const pairs = FAULTS.flatMap((earlier, index) =>
    FAULTS.slice(index + 1).map((later) => ({
      earlier,
      later,
      name: `${earlier.kind} before ${later.kind}`,
    })),
  );
  test.each(pairs)('of two faults the earlier check gives the rejection: $name', ({ earlier, later }) => {
    expect(decisionOn([earlier, later]).kind).toBe(earlier.kind);
  });

  test.each(FAULTS.map((fault, index) => ({ kind: fault.kind, index })))(
    '$kind is the rejection when every later check would fail too',
    ({ kind, index }) => {
      expect(decisionOn(FAULTS.slice(index)).kind).toBe(kind);
    },
  );
});

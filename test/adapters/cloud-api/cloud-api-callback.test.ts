import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import {
  CALLBACK_ITEMS_MAX,
  CHALLENGE_CHARACTERS_MAX,
} from '../../../src/adapters/cloud-api/cloud-api-callback.ts';
import { INBOUND_TEXT_CHARACTERS_MAX } from '../../../src/adapters/cloud-api/inbound-message.ts';
import type { CallbackRequest } from '../../../src/application/ports/provider-callback.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  aStatus,
  callbackOf,
  signedCallback,
  VERIFY_TOKEN,
} from '../../support/cloud-api-peer.ts';
import { cloudApi, PHONE_ID } from '../../support/cloud-api-world.ts';
import { roundsDuring } from '../../support/rounds-during.ts';

const { callback } = cloudApi({ peer: { url: 'http://127.0.0.1:1' } });

const example = (name: string) =>
  signedCallback(readFileSync(join(import.meta.dirname, 'examples', `${name}.json`), 'utf8'));
const read = (content: object) => callback.read(signedCallback(JSON.stringify(content)));

/** Each question about the time, that is. */
function eachQuestionTakesAMillisecond(): void {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => ++now);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    // What the callback counts of a round ends with it.
    await new Promise((resolve) => setImmediate(resolve));
  });
}

const WAMID = 'wamid.HBgMOTY0NzcxMjM0NTY3OBUCABEYEjE0OTQ4QTVGMzI5QkY2MjkwAA==';
const INBOUND_WAMID = 'wamid.HBgMOTY0NzcxMjM0NTY3OBUCABIYFDNBNEE2NTk5RUQ5RTlDRkYzNkFFAA==';
const NONE = { kind: 'events', events: [], malformed: 0 };
const ONE_MALFORMED = { kind: 'events', events: [], malformed: 1 };

describe('statuses of messages', () => {
  test.each<[data: unknown, named: object]>([
    [
      'sms-000000000000000000000001-2',
      { attempt: { smsId: 'sms-000000000000000000000001', attemptNumber: 2 } },
    ],
    ['an order of somebody else', {}],
    [7, {}],
  ])('a status names an attempt only by a name of ours: %j', async (data, named) => {
    const status = aStatus(WAMID, 'delivered', { biz_opaque_callback_data: data });
    const receipt = {
      channel: 'whatsapp',
      providerMessageId: WAMID,
      receipt: { kind: 'delivered' },
      ...named,
    };
    expect(await read(callbackOf({ statuses: [status] }))).toEqual({
      kind: 'events',
      events: [{ kind: 'receipt', receipt }],
      malformed: 0,
    });
  });

  const billed = { billable: true, model: 'PMP', category: 'authentication' };

  test.each<[name: string, receipt: object]>([
    ['status-sent', { kind: 'sent', charge: billed }],
    ['status-delivered', { kind: 'delivered', charge: billed }],
    ['status-read', { kind: 'read', charge: { billable: false, model: 'PMP', category: 'service' } }],
    [
      'status-failed',
      {
        kind: 'failed',
        reason:
          'Meta error 131049: In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
      },
    ],
  ])('the callback reads the published example %s as a receipt', async (name, receipt) => {
    expect(await callback.read(example(name))).toEqual({
      kind: 'events',
      events: [{ kind: 'receipt', receipt: { channel: 'whatsapp', providerMessageId: WAMID, receipt } }],
      malformed: 0,
    });
  });

  const statuses = async (...given: readonly unknown[]) => {
    const content = await read(callbackOf({ statuses: given }));
    if (content.kind !== 'events') throw new Error(`The callback is ${content.kind}`);
    const receipts = content.events.map((event) =>
      event.kind === 'receipt' ? event.receipt.receipt : event,
    );
    return { receipts, malformed: content.malformed };
  };

  it.each(['deleted', 'warning', 'played', 'something_new'])(
    'the callback ignores a status that says nothing of the delivery: %s',
    async (status) => {
      expect(await statuses(aStatus('wamid.1', status))).toEqual({ receipts: [], malformed: 0 });
    },
  );

  it('the callback keeps the order of reversed statuses, and each of two that are alike', async () => {
    const given = ['read', 'delivered', 'sent', 'sent'].map((status) => aStatus('wamid.1', status));
    expect(await statuses(...given)).toEqual({
      receipts: [{ kind: 'read' }, { kind: 'delivered' }, { kind: 'sent' }, { kind: 'sent' }],
      malformed: 0,
    });
  });

  it('a malformed status does not spoil the others, and is counted', async () => {
    const given = [
      null,
      'sent',
      {},
      aStatus('', 'sent'),
      aStatus('x'.repeat(256), 'sent'),
      { id: 'wamid.2' },
    ];
    expect(await statuses(...given, aStatus('wamid.1', 'delivered'))).toEqual({
      receipts: [{ kind: 'delivered' }],
      malformed: 6,
    });
  });

  test.each<[title: string, pricing: unknown]>([
    ['is no object', 'free'],
    ['has no category', { billable: true, pricing_model: 'PMP' }],
    ['has a category that is too long', { billable: true, pricing_model: 'PMP', category: 'x'.repeat(51) }],
  ])('the callback leaves a price out that %s', async (_, pricing) => {
    expect(await statuses(aStatus('wamid.1', 'sent', { pricing }))).toEqual({
      receipts: [{ kind: 'sent' }],
      malformed: 0,
    });
  });

  test.each<[title: string, errors: unknown, reason: string]>([
    [
      'only a title',
      [{ code: 131026, title: 'Message undeliverable' }],
      'Meta error 131026: Message undeliverable',
    ],
    ['only a code', [{ code: 131026 }], 'Meta error 131026'],
    ['no error', [], 'Meta gave no reason'],
    ['errors that cannot be read', 'none', 'Meta gave no reason'],
  ])('a failed status with %s has a reason', async (_, errors, reason) => {
    expect(await statuses(aStatus('wamid.1', 'failed', { errors }))).toEqual({
      receipts: [{ kind: 'failed', reason }],
      malformed: 0,
    });
  });

  it('the callback cuts the words of an error to what can be stored', async () => {
    const errors = [{ code: 1, error_data: { details: `a\u0000b${'x'.repeat(1_000)}` } }];
    const { receipts } = await statuses(aStatus('wamid.1', 'failed', { errors }));
    expect(receipts).toEqual([{ kind: 'failed', reason: `Meta error 1: a b${'x'.repeat(483)}` }]);
  });

  it.each([ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN])(
    'the callback masks the credential %s in the words of an error',
    async (secret) => {
      const errors = [{ code: 190, message: `The token ${secret} has expired` }];
      const { receipts } = await statuses(aStatus('wamid.1', 'failed', { errors }));
      expect(receipts).toEqual([{ kind: 'failed', reason: 'Meta error 190: The token *** has expired' }]);
    },
  );

  it('the callback counts what is beyond its limit as malformed', async () => {
    const given = Array.from({ length: CALLBACK_ITEMS_MAX + 2 }, () => aStatus('wamid.1', 'sent'));
    const { receipts, malformed } = await statuses(...given);
    // The entry and the change that they stand in count as well.
    expect([receipts.length, malformed]).toEqual([CALLBACK_ITEMS_MAX - 2, 4]);
  });

  it('other work runs while the callback reads thousands of statuses', async () => {
    eachQuestionTakesAMillisecond();
    const given = Array.from({ length: 1_000 }, () => aStatus('wamid.1', 'sent'));
    expect(await roundsDuring(() => statuses(...given))).toBeGreaterThan(300);
  });

  it('the callback reads only the first error of a status', async () => {
    const errors = [{ code: 1, message: 'gone' }, 'no error'];
    const { receipts } = await statuses(aStatus('wamid.1', 'failed', { errors }));
    expect(receipts).toEqual([{ kind: 'failed', reason: 'Meta error 1: gone' }]);
  });

  const good = callbackOf({ statuses: [aStatus('wamid.1', 'sent')] }) as {
    readonly object: string;
    readonly entry: readonly [{ readonly changes: readonly [object] }];
  };
  const malformedItems = (count: number) => Array.from({ length: count }, () => ({}));

  it.each([
    [3, 1, CALLBACK_ITEMS_MAX - 3],
    [2, 0, CALLBACK_ITEMS_MAX - 1],
  ])(
    'entries count for the limit of the callback: with %i left a status is read %i times',
    async (left, times, count) => {
      const content = await read({
        ...good,
        entry: [...malformedItems(CALLBACK_ITEMS_MAX - left), ...good.entry],
      });
      expect(content).toMatchObject({ events: { length: times }, malformed: count });
    },
  );

  it.each([
    [3, 1, CALLBACK_ITEMS_MAX - 3],
    [2, 0, CALLBACK_ITEMS_MAX - 1],
  ])(
    'changes count for the limit of the callback: with %i left a status is read %i times',
    async (left, times, count) => {
      const { changes } = good.entry[0];
      const entry = [{ changes: [...malformedItems(CALLBACK_ITEMS_MAX - left), ...changes] }];
      const content = await read({ ...good, entry });
      expect(content).toMatchObject({ events: { length: times }, malformed: count });
    },
  );
});

describe('messages of customers', () => {
  const arrival = (content: object, contact: object = {}) => ({
    kind: 'events',
    events: [
      {
        kind: 'inbound',
        arrival: {
          whatsappPhoneId: PHONE_ID,
          contact: { phoneNumber: '9647712345678', name: 'Layla Hassan', ...contact },
          messageId: INBOUND_WAMID,
          content,
          writtenAt: 1_768_478_395_000,
        },
      },
    ],
    malformed: 0,
  });

  test.each<[name: string, content: object]>([
    ['message-text', { type: 'text', content: { text: 'Does it come in another color? 🎨' } }],
    [
      'message-image',
      {
        type: 'image',
        content: { mediaId: '1003383421387256', mimeType: 'image/jpeg', caption: 'Our door' },
      },
    ],
    ['message-video', { type: 'video', content: { mediaId: '24230790383178626', mimeType: 'video/mp4' } }],
    [
      'message-audio',
      { type: 'audio', content: { mediaId: '1908647269898587', mimeType: 'audio/ogg; codecs=opus' } },
    ],
    [
      'message-document',
      {
        type: 'document',
        content: {
          mediaId: '1376223850470843',
          mimeType: 'application/pdf',
          caption: 'The invoice',
          filename: 'invoice-11.pdf',
        },
      },
    ],
    ['message-sticker', { type: 'sticker', content: { mediaId: '798882015472548', mimeType: 'image/webp' } }],
    [
      'message-location',
      {
        type: 'location',
        content: {
          latitude: 36.191113,
          longitude: 44.009167,
          name: 'Citadel of Erbil',
          address: 'Erbil, Iraq',
        },
      },
    ],
    ['message-button-reply', { type: 'button_reply', content: { id: 'cancel-button', title: 'Cancel' } }],
    [
      'message-list-reply',
      { type: 'list_reply', content: { id: 'priority_express', title: 'Priority mail express' } },
    ],
    [
      'message-template-button',
      { type: 'button_reply', content: { id: 'unsubscribe-1', title: 'Unsubscribe' } },
    ],
    ['message-flow-reply', { type: 'unsupported', content: {} }],
    ['message-reaction', { type: 'unsupported', content: {} }],
    ['message-contacts', { type: 'unsupported', content: {} }],
    ['message-order', { type: 'unsupported', content: {} }],
    ['message-unsupported', { type: 'unsupported', content: {} }],
  ])('the callback reads the published example %s as an arrival', async (name, content) => {
    expect(await callback.read(example(name))).toEqual(arrival(content));
  });

  it('the callback reads a message of the platform itself, which comes without contacts', async () => {
    const content = { type: 'unsupported', content: {} };
    expect(await callback.read(example('message-system'))).toEqual(arrival(content, { name: '' }));
  });

  it('the callback reads a message of a customer who hides the number, with an empty one', async () => {
    const content = { type: 'text', content: { text: 'Hello' } };
    expect(await callback.read(example('message-without-number'))).toEqual(
      arrival(content, { phoneNumber: '' }),
    );
  });

  const written = (given: object) => ({
    from: '9647712345678',
    id: INBOUND_WAMID,
    timestamp: '1768478395',
    type: 'text',
    text: { body: 'Hello' },
    ...given,
  });

  it('the callback ignores a message to a number of no project', async () => {
    expect(await read(callbackOf({ messages: [written({})] }, '106540352242999'))).toEqual(NONE);
  });

  test.each<[title: string, message: unknown]>([
    ['is no object', 7],
    ['has no id', written({ id: undefined })],
    ['has an id with a space', written({ id: 'wamid 1' })],
    ['has a time in words', written({ timestamp: 'today' })],
    ['has a time that is too long', written({ timestamp: '176847839500' })],
    ['comes from no number', written({ from: 'Layla' })],
    ['has no body', written({ text: {} })],
    ['has no media', written({ type: 'image' })],
    ['has media without an id', written({ type: 'image', image: { mime_type: 'image/png' } })],
    ['is at no place', written({ type: 'location', location: { latitude: 91, longitude: 0 } })],
    ['is a reply to nothing', written({ type: 'interactive', interactive: { type: 'button_reply' } })],
    ['is interactive without content', written({ type: 'interactive' })],
    ['is a button without text', written({ type: 'button', button: {} })],
  ])('a message that %s does not spoil the others, and is counted', async (_, message) => {
    const content = await read(callbackOf({ messages: [message, written({ id: 'wamid.good' })] }));
    expect(content).toMatchObject({ events: [{ arrival: { messageId: 'wamid.good' } }], malformed: 1 });
  });

  it('the callback names a customer by the first of two contacts with the number', async () => {
    const contacts = ['Layla', 'Omar'].map((name) => ({ wa_id: '9647712345678', profile: { name } }));
    const content = await read(callbackOf({ contacts, messages: [written({})] }));
    expect(content).toMatchObject({ events: [{ arrival: { contact: { name: 'Layla' } } }] });
  });

  it('the callback reads each contact once, however many messages there are', async () => {
    const others = Array.from({ length: CALLBACK_ITEMS_MAX - 1 }, () => ({ wa_id: '9647700000009' }));
    const contacts = [...others, { wa_id: '9647712345678', profile: { name: 'Layla' } }];
    const messages = Array.from({ length: 5_000 }, () => written({}));
    const startedAt = performance.now();
    const content = await read(callbackOf({ contacts, messages }));
    // It takes a fraction of a second; 50 million reads take a minute.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(content).toMatchObject({
      events: { length: 5_000, 4999: { arrival: { contact: { name: 'Layla' } } } },
    });
  });

  it('other work runs while the callback reads thousands of contacts', async () => {
    eachQuestionTakesAMillisecond();
    const contacts = Array.from({ length: 1_000 }, () => ({ wa_id: 1 }));
    const given = callbackOf({ contacts, messages: [written({})] });
    expect(await roundsDuring(() => read(given))).toBeGreaterThan(300);
  });

  it('the callback reads no contact beyond its limit', async () => {
    const others = Array.from({ length: CALLBACK_ITEMS_MAX }, () => ({ wa_id: '9647700000009' }));
    const contacts = [...others, { wa_id: '9647712345678', profile: { name: 'Layla' } }];
    const content = await read(callbackOf({ contacts, messages: [written({})] }));
    expect(content).toMatchObject({ events: [{ arrival: { contact: { name: '' } } }] });
  });

  it('the callback names a contact only when its number is the one that wrote', async () => {
    const contacts = [7, { wa_id: '9647700000009', profile: { name: 'Omar' } }, { wa_id: '9647712345678' }];
    const content = await read(callbackOf({ contacts, messages: [written({})] }));
    expect(content).toMatchObject({ events: [{ arrival: { contact: { name: '' } } }] });
  });

  it('the callback takes the text of a quick reply for its id when it has no payload', async () => {
    const content = await read(
      callbackOf({ messages: [written({ type: 'button', button: { text: 'Yes' } })] }),
    );
    expect(content).toMatchObject({
      events: [{ arrival: { content: { type: 'button_reply', content: { id: 'Yes', title: 'Yes' } } } }],
    });
  });

  it('the callback cuts a text that is too long, and never inside a character', async () => {
    const body = `${'x'.repeat(INBOUND_TEXT_CHARACTERS_MAX - 1)}😀`;
    const content = await read(callbackOf({ messages: [written({ text: { body } })] }));
    expect(content).toMatchObject({
      events: [{ arrival: { content: { content: { text: 'x'.repeat(INBOUND_TEXT_CHARACTERS_MAX - 1) } } } }],
    });
  });
});

describe('callbacks of other things', () => {
  it.each(['template-status', 'account-errors'])('the callback ignores the example %s', async (name) => {
    expect(await callback.read(example(name))).toEqual(NONE);
  });

  it('the callback ignores another object of the platform', async () => {
    expect(await read({ object: 'page', entry: [{ changes: [] }] })).toEqual(NONE);
  });

  test.each<[title: string, entry: unknown]>([
    ['an entry without changes', { id: '1' }],
    ['a change without a field', { changes: [{ value: {} }] }],
    ['a change without a number', { changes: [{ field: 'messages', value: { statuses: [] } }] }],
    ['a change whose statuses are no list', callbackOf({ statuses: {} }).entry],
  ])('the callback counts %s as malformed', async (_, entry) => {
    expect(await read({ object: 'whatsapp_business_account', entry: [entry].flat() })).toEqual(ONE_MALFORMED);
  });

  it.each(['', 'null', '[]', '{"object":"whatsapp_business_account"}', '<html></html>'])(
    'the callback cannot read a signed body that is no callback: %s',
    async (text) => {
      expect(await callback.read(signedCallback(text))).toEqual({
        kind: 'unreadable',
        problem: 'The body is no callback of the Graph API',
      });
    },
  );
});

describe('forged callbacks', () => {
  const genuine = example('status-delivered');
  const withHeader = (value: string | readonly string[] | undefined): CallbackRequest => ({
    ...genuine,
    headers: { 'x-hub-signature-256': value },
  });
  const signature = String(genuine.headers['x-hub-signature-256']);

  test.each<[title: string, request: CallbackRequest]>([
    ['has no signature', withHeader(undefined)],
    ['has two signatures', withHeader([signature, signature])],
    ['has an empty signature', withHeader('')],
    ['has a signature without its scheme', withHeader(signature.slice('sha256='.length))],
    ['has a signature that is cut', withHeader(signature.slice(0, -1))],
    ['is signed with another secret', signedCallback(genuine.body.toString('utf8'), 'another secret')],
    ['has a body that was changed', { ...genuine, body: Buffer.concat([genuine.body, Buffer.from(' ')]) }],
  ])('a callback is forged when it %s', async (_, request) => {
    expect(await callback.read(request)).toEqual({ kind: 'forged' });
  });

  it('a callback is genuine when its signature is in upper case', async () => {
    const content = await callback.read(withHeader(`sha256=${signature.slice(7).toUpperCase()}`));
    expect(content.kind).toBe('events');
  });
});

describe('the challenge', () => {
  const ask = (query: Readonly<Record<string, string>>) =>
    callback.read({
      method: 'GET',
      query: new URLSearchParams(query),
      headers: {},
      body: Buffer.alloc(0),
    });
  const genuine = {
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': VERIFY_TOKEN,
  };

  it('the callback returns the challenge to Meta, which knows the token', async () => {
    expect(await ask(genuine)).toEqual({ kind: 'challenge', text: '1158201444' });
  });

  test.each<[title: string, change: Readonly<Record<string, string>>]>([
    ['another token', { 'hub.verify_token': 'guess' }],
    ['a part of the token', { 'hub.verify_token': VERIFY_TOKEN.slice(0, -1) }],
    ['an empty token', { 'hub.verify_token': '' }],
    ['a very long token', { 'hub.verify_token': 'x'.repeat(CHALLENGE_CHARACTERS_MAX + 1) }],
    ['another mode', { 'hub.mode': 'unsubscribe' }],
  ])('a challenge is forged with %s', async (_, change) => {
    expect(await ask({ ...genuine, ...change })).toEqual({ kind: 'forged' });
  });

  test.each<[title: string, challenge: string]>([
    ['empty', ''],
    ['too long', '1'.repeat(CHALLENGE_CHARACTERS_MAX + 1)],
    ['markup', '<script>'],
  ])('the callback does not return a challenge that is %s', async (_, challenge) => {
    expect(await ask({ ...genuine, 'hub.challenge': challenge })).toEqual({
      kind: 'unreadable',
      problem: 'hub.challenge is missing, too long or no plain text',
    });
  });
});

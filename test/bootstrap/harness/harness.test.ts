import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../../../src/bootstrap/harness/harness.ts';
import { seedWith, verification } from '../../support/seeds.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const NUMBER = '9647701234567';
const OTHER_NUMBER = '9647801234567';
/** The first channel accepts and stays silent, the next one delivers. */
const SILENT_FIRST = '9990000000010';
/** Every channel accepts, no report ever. */
const SILENT = '9990000000003';

const harnesses: Harness[] = [];
async function harnessWith(options: HarnessOptions = {}): Promise<Harness> {
  const harness = await startHarness(options);
  harnesses.push(harness);
  return harness;
}
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));

const send = (harness: Harness, phoneNumber: string, more: Record<string, unknown> = {}) =>
  harness.request('/sms', { body: verification(phoneNumber, more) });
const creditOf = async (harness: Harness) =>
  ((await harness.request('/info')).body as { credit: number }).credit;

describe('the port', () => {
  it('opens the port when the address is read, and not before', async () => {
    const harness = await harnessWith();
    await harness.advance(MINUTE);
    expect(harness.service.http.server.listening).toBe(false);
    const url = await harness.url;
    expect(harness.service.http.server.listening).toBe(true);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    expect(await harness.url).toBe(url);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('closes the port with the harness', async () => {
    const harness = await harnessWith();
    const url = await harness.url;
    await harness.close();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});

describe('the clock', () => {
  it('starts the clock at the given instant, and leaves it there', async () => {
    expect((await harnessWith()).now().toISOString()).toBe('2030-01-01T00:00:00.000Z');
    const harness = await harnessWith({ now: '2031-05-06T07:08:09Z' });
    await send(harness, NUMBER);
    await harness.settle();
    expect(harness.now().toISOString()).toBe('2031-05-06T07:08:09.000Z');
    await harness.advance(90 * SECOND);
    expect(harness.now().toISOString()).toBe('2031-05-06T07:09:39.000Z');
  });

  it('the harness rejects a first instant that is none, or is before 1970', async () => {
    await expect(harnessWith({ now: 'yesterday' })).rejects.toThrow(
      'now: yesterday is no instant since 1970',
    );
    await expect(harnessWith({ now: -1 })).rejects.toThrow('now: -1 is no instant since 1970');
    expect((await harnessWith({ now: 0 })).now().getTime()).toBe(0);
  });

  it('stops the clock at every instant at which work is due, in order', async () => {
    const harness = await harnessWith();
    const start = harness.now().getTime();
    const text = { smsType: 'custom', customMessage: 'Hello', phoneNumber: SILENT_FIRST };
    await harness.request('/sms', { body: { ...text, provider: 'whatsapp-sms' } });
    await harness.advance(10 * SECOND);
    await send(harness, SILENT_FIRST, { provider: 'whatsapp-sms' });
    await harness.advance(DAY);
    expect(
      harness.inbox
        .all()
        .map(({ submittedAt, channel, code }) => [(submittedAt - start) / SECOND, channel, code]),
    ).toEqual([
      [0, 'whatsapp', null],
      [10, 'whatsapp', '123456'],
      [40, 'sms', '123456'],
      [300, 'sms', null],
    ]);
    await harness.assertQuiet();
  });

  it.each([-5, Number.NaN, Number.POSITIVE_INFINITY])(
    'does not move the clock by %d milliseconds',
    async (ms) => {
      const harness = await harnessWith();
      const before = harness.now();
      await expect(harness.advance(ms)).rejects.toThrow('the clock moves by 0 ms or more');
      expect(harness.now()).toEqual(before);
    },
  );

  it('advances a month in one call', async () => {
    const harness = await harnessWith();
    const { body } = await send(harness, SILENT, { provider: 'whatsapp' });
    await harness.advance(31 * DAY);
    const message = await harness.message((body as { smsId: string }).smsId);
    expect(message).toMatchObject({ status: 'sent', isFinal: true });
    expect(message?.finalAt).toBe(new Date('2030-01-04T00:00:00Z').getTime());
    await harness.assertQuiet();
  });
});

describe('the inbox', () => {
  it('returns a message that is in the inbox at once, each one once, in order', async () => {
    const harness = await harnessWith();
    await send(harness, NUMBER, { verificationCode: '1111' });
    await harness.settle();
    await send(harness, NUMBER, { verificationCode: '2222' });
    await harness.settle();
    expect((await harness.inbox.next()).code).toBe('1111');
    expect((await harness.inbox.next()).code).toBe('2222');
    expect(harness.inbox.all().map(({ code }) => code)).toEqual(['1111', '2222']);
  });

  it('returns a message that arrives later to the caller that waits for it', async () => {
    const harness = await harnessWith();
    const other = harness.inbox.next({ to: OTHER_NUMBER });
    const bySms = harness.inbox.next({ to: NUMBER, channel: 'sms' });
    const any = harness.inbox.next({ to: NUMBER });
    await send(harness, NUMBER, { verificationCode: '1111', provider: 'whatsapp' });
    expect(await any).toMatchObject({ phoneNumber: NUMBER, channel: 'whatsapp', code: '1111' });
    await send(harness, NUMBER, { verificationCode: '2222', provider: 'sms' });
    expect(await bySms).toMatchObject({ channel: 'sms', code: '2222' });
    await send(harness, OTHER_NUMBER, { verificationCode: '3333' });
    expect(await other).toMatchObject({ phoneNumber: OTHER_NUMBER, code: '3333' });
  });

  it('shows only messages that reached a handset, until it is cleared', async () => {
    const harness = await harnessWith();
    harness.without(NUMBER, 'whatsapp');
    await send(harness, NUMBER, { provider: 'whatsapp-sms' });
    await harness.settle();
    expect(harness.inbox.all().map(({ channel }) => channel)).toEqual(['sms']);
    expect(harness.inbox.all({ channel: 'whatsapp' })).toEqual([]);
    harness.inbox.clear();
    expect(harness.inbox.all()).toEqual([]);
  });
});

describe('a message that does not come', () => {
  const textOf = (waiting: Promise<unknown>) => waiting.then(String, (error: Error) => error.message);

  it('rejects after the timeout and says that the inbox is empty', async () => {
    const harness = await harnessWith();
    const waiting = harness.inbox.next({ to: NUMBER, channel: 'sms', timeoutMs: 1 });
    expect(await textOf(waiting)).toBe(
      `No message to ${NUMBER} on sms arrived within 1 ms. The inbox is empty.`,
    );
  });

  it('rejects after the timeout and lists the messages of the inbox', async () => {
    const harness = await harnessWith();
    await send(harness, NUMBER, { verificationCode: '1111', provider: 'whatsapp' });
    await harness.inbox.next();
    await send(harness, NUMBER, { verificationCode: '2222', provider: 'sms' });
    await harness.settle();
    expect(await textOf(harness.inbox.next({ to: OTHER_NUMBER, timeoutMs: 1 }))).toBe(
      [
        `No message to ${OTHER_NUMBER} arrived within 1 ms. The inbox holds 2, the newest last:`,
        `  verification to ${NUMBER} on whatsapp, code 1111 (returned before)`,
        `  verification to ${NUMBER} on sms, code 2222`,
      ].join('\n'),
    );
  });

  it('rejects with an error that names the line of the test', async () => {
    const harness = await harnessWith();
    const error = await harness.inbox.next({ timeoutMs: 1 }).catch((thrown: Error) => thrown);
    expect((error as Error).stack).toMatch(/^Error: No message arrived within 1 ms.*\n.*harness\.test\.ts/);
  });

  it('returns a late message to the next caller, not to one whose timeout is over', async () => {
    const harness = await harnessWith();
    await textOf(harness.inbox.next({ timeoutMs: 1 }));
    await send(harness, NUMBER, { verificationCode: '3333' });
    expect((await harness.inbox.next()).code).toBe('3333');
  });
});

describe('a script that fails', () => {
  it('makes the call that does the work throw its error, once', async () => {
    const harness = await harnessWith();
    harness.script(() => {
      throw new Error('a bug of the test');
    });
    await send(harness, NUMBER, { provider: 'sms' });
    await expect(harness.settle()).rejects.toThrow('a bug of the test');
    await harness.settle();
    await expect(harness.inbox.next({ timeoutMs: 1 })).rejects.toThrow('A script threw: Error: a bug of');
  });

  it('ends the wait for a message', async () => {
    const harness = await harnessWith();
    harness.script(async () => ({ result: 'acepted' as 'accepted' }));
    const waiting = harness.inbox.next();
    await send(harness, NUMBER, { provider: 'sms' });
    await expect(waiting).rejects.toThrow(
      'A script returned {"result":"acepted"}: result is accepted, rejected, unavailable, unknown',
    );
  });
});

describe('a handset without channels', () => {
  const channelsOf = (harness: Harness) => harness.inbox.all().map(({ channel }) => channel);

  it('makes one more channel unreachable with every call of without()', async () => {
    const harness = await harnessWith();
    harness.without(NUMBER, 'whatsapp');
    harness.without(NUMBER, 'telegram');
    harness.without(OTHER_NUMBER, 'sms');
    await send(harness, NUMBER, { provider: 'whatsapp-telegram-sms' });
    await harness.settle();
    expect(channelsOf(harness)).toEqual(['sms']);
  });

  it('throws for a number that no send takes, whether a message waits in the inbox or not', async () => {
    const harness = await startHarness();
    const problem = '"+9647701234567" is no phone number: write 10 to 15 digits, for example 9647701234567';
    expect(() => harness.inbox.all({ to: '+9647701234567' })).toThrow(problem);
    expect(() => harness.inbox.next({ to: '+9647701234567' })).toThrow(problem);
    await harness.close();
  });

  it('takes every spelling of a number in without() and in the inbox', async () => {
    const harness = await harnessWith();
    harness.without('07701234567', 'whatsapp');
    harness.without('009647701234567', 'telegram');
    await send(harness, NUMBER, { provider: 'whatsapp-telegram-sms' });
    expect((await harness.inbox.next({ to: '07701234567' })).channel).toBe('sms');
    expect(harness.inbox.all({ to: '009647701234567' })).toHaveLength(1);
  });

  it('throws in without() for what is no phone number', async () => {
    const harness = await harnessWith();
    expect(() => harness.without('+9647701234567', 'whatsapp')).toThrow(
      '"+9647701234567" is no phone number: write 10 to 15 digits, for example 9647701234567',
    );
  });

  it('rejects in writeTo() for what is no phone number', async () => {
    const harness = await harnessWith();
    const written = harness.writeTo('664def456abc789012345678', '+9647701234567', {
      type: 'text',
      content: { text: 'hello' },
    });
    await expect(written).rejects.toThrow(
      '"+9647701234567" is no phone number: write 10 to 15 digits, for example 9647701234567',
    );
  });

  it('throws in without() for what is no channel', async () => {
    const harness = await harnessWith();
    expect(() => harness.without(NUMBER, 'telegramm' as 'telegram')).toThrow(
      '"telegramm" is no channel: the channels are sms, whatsapp, telegram',
    );
  });

  it('keeps channels unreachable when a script is set, before or after', async () => {
    const harness = await harnessWith();
    harness.script(({ channel }) => (channel === 'telegram' ? { result: 'rejected' } : null));
    harness.without(NUMBER, 'whatsapp');
    await send(harness, NUMBER, { provider: 'whatsapp-telegram-sms' });
    await harness.settle();
    expect(channelsOf(harness)).toEqual(['sms']);
    harness.script(() => null);
    await send(harness, NUMBER, { provider: 'whatsapp-telegram-sms' });
    await harness.settle();
    expect(channelsOf(harness)).toEqual(['sms', 'telegram']);
  });
});

describe("the test runner's fake timers", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(['before', 'after'])('do not stop a harness that is started %s them', async (order) => {
    if (order === 'after') vi.useFakeTimers();
    const harness = await harnessWith();
    if (order === 'before') vi.useFakeTimers();
    const { status } = await send(harness, SILENT_FIRST, { provider: 'whatsapp-sms' });
    expect(status).toBe(200);
    expect((await harness.inbox.next()).channel).toBe('whatsapp');
    await harness.advance(31 * SECOND);
    expect((await harness.inbox.next()).channel).toBe('sms');
    await harness.assertQuiet();
    await harness.close();
  });
});

it('rejects a request whose path does not begin with a slash', async () => {
  const harness = await startHarness();
  await expect(harness.request('sms')).rejects.toThrow('begins with /, such as /sms: sms');
  await harness.close();
});

it('rejects requests to a harness that is closed, and opens no port', async () => {
  for (const opened of [false, true]) {
    const harness = await harnessWith();
    if (opened) await harness.url;
    await harness.close();
    await expect(harness.request('/healthz')).rejects.toThrow('The harness is closed');
    expect(harness.service.http.server.listening).toBe(false);
  }
});

it('closes a harness at the end of the block that uses it', async () => {
  let url = '';
  {
    await using harness = await startHarness();
    url = await harness.url;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

describe('assertQuiet', () => {
  it('reports open holds and due jobs', async () => {
    const harness = await harnessWith();
    await send(harness, SILENT, { provider: 'sms' });
    const text = await harness.assertQuiet().then(
      () => '',
      (error: Error) => error.message,
    );
    expect(text).toMatch(/^The service is not quiet at 2030-01-01T00:00:00\.000Z:\n/);
    expect(text).toMatch(/project [0-9a-f]{24}: 100 IQD are still held/);
    expect(text).toMatch(/a job is due at 2030-01-01T00:00:30\.000Z: sms-[0-9a-f]{24}\/deadline\/0$/);
    await harness.advance(DAY);
    await harness.assertQuiet();
  });

  it('reports where an account and its ledger disagree', async () => {
    const harness = await harnessWith();
    const { knex } = harness.service.roots.database;
    await knex('accounts').update({ balance: 1 });
    await expect(harness.assertQuiet()).rejects.toThrow(/balance is 0.001 IQD, its entries say 15000 IQD/);
  });
});

it('closes a harness that is closed twice, also at once', async () => {
  const harness = await harnessWith();
  await send(harness, NUMBER);
  await Promise.all([harness.close(), harness.close()]);
  await harness.close();
});

it('starts harnesses that share nothing', async () => {
  const [one, two] = [await harnessWith(), await harnessWith({ seed: seedWith({ credit: 500 }) })];
  expect(await one.url).not.toBe(await two.url);
  one.without(NUMBER, 'sms');
  const { body } = await send(one, NUMBER, { provider: 'sms' });
  await send(two, NUMBER, { provider: 'sms' });
  await one.advance(DAY);
  await two.settle();
  expect(two.now().toISOString()).toBe('2030-01-01T00:00:00.000Z');
  expect([one.inbox.all().length, two.inbox.all().length]).toEqual([0, 1]);
  expect([await creditOf(one), await creditOf(two)]).toEqual([15_000, 420]);
  const { smsId } = body as { smsId: string };
  expect((await one.request(`/sms/track/${smsId}`)).status).toBe(200);
  expect((await two.request(`/sms/track/${smsId}`)).status).toBe(404);
});

describe('campaigns', () => {
  const TEMPLATE_PARAMETERS = { body: { 1: 'Layla', 2: '17' }, buttons: { 0: { 1: '17' } } };

  async function started(harness: Harness, count: number): Promise<string> {
    const plan = {
      name: 'Orders',
      templateId: '664def456abc789012345603',
      phoneNumberId: '664def456abc789012345678',
    };
    const { data } = (await harness.request('/whatsapp/campaigns', { body: plan })).body as {
      data: { _id: string };
    };
    const recipients = Array.from({ length: count }, (_, index) => ({
      phoneNumber: `96477012345${index + 10}`,
      templateParameters: TEMPLATE_PARAMETERS,
    }));
    await harness.request(`/whatsapp/campaigns/${data._id}/recipients`, { body: { recipients } });
    await harness.request(`/whatsapp/campaigns/${data._id}/start`, { method: 'POST' });
    return data._id;
  }

  it('a campaign reaches the inbox, is read as it is stored, and holds money until it is over', async () => {
    const harness = await harnessWith();
    const id = await started(harness, 2);
    await expect(harness.assertQuiet()).rejects.toThrow('120 IQD are still held');
    expect(
      harness.inbox
        .all()
        .map(({ phoneNumber }) => phoneNumber)
        .sort(),
    ).toEqual(['9647701234510', '9647701234511']);
    await harness.advance(MINUTE);
    expect(await harness.campaign(id)).toMatchObject({
      status: 'completed',
      captured: 120_000,
      recipients: [
        { position: 0, phoneNumber: '9647701234510', status: 'delivered' },
        { position: 1, phoneNumber: '9647701234511', status: 'delivered' },
      ],
    });
    await harness.assertQuiet();
    expect(await harness.campaign('664def456abc7890123456ff')).toBeNull();
  });

  it('a campaign keeps the limits of the platform unless a harness takes them away', async () => {
    const limited = await harnessWith();
    await started(limited, 20);
    await limited.settle();
    expect(limited.inbox.all()).toHaveLength(8);
    const free = await harnessWith({ keepsPlatformLimits: false });
    await started(free, 20);
    await free.settle();
    expect(free.inbox.all()).toHaveLength(20);
  });
});
